import TestSupport
import Testing

/// Which words of `tidemark run` are ours, and which are the program's.
@Suite(.tags(.medium)) struct RunOptionsTests {
  @Test(arguments: [["--help"], ["-h"], ["--no-upload", "--help"], ["--app", "x", "-h"]])
  func `options before the program belong to tidemark run`(arguments: [String]) async throws {
    let program = try Program()
    let result = try await program.run(["run"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.contains("USAGE: tidemark run") && result.text.contains("--survive"))
    #expect(try await program.list("--local").isEmpty)
  }

  @Test func `run --version prints tidemark's version`() async throws {
    let program = try Program()
    let result = try await program.run("run", "--version")
    #expect(result.status == 0)
    #expect(try await result.text == program.run("--version").text)
  }

  @Test(arguments: [
    ["--ap", "x", "ls"], ["-x"], ["--no-uploads", "ls"], ["--pty", "--foo=1", "ls"],
  ])
  func `an unknown option is an error and runs nothing`(arguments: [String]) async throws {
    let program = try Program()
    let result = try await program.run(["run"] + arguments)
    #expect(result.status == 64)
    let option = try #require(arguments.last { $0.hasPrefix("-") })
    #expect(result.errors.contains("unknown option '\(option)'"), "\(result.errors)")
    #expect(try await program.list("--local").isEmpty)
  }

  @Test(arguments: [
    ["echo", "--help", "-h", "--version", "--app", "--", "x"],
    ["--", "echo", "--help", "-h", "--version", "--app", "--", "x"],
    ["--app", "y", "--no-upload", "echo", "--help", "-h", "--version", "--app", "--", "x"],
  ])
  func `options after the program belong to the program`(arguments: [String]) async throws {
    let result = try await Program().run(["run"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text == "--help -h --version --app -- x\n")
  }

  @Test func `after -- a program may have the name of an option`() async throws {
    let result = try await Program().run("run", "--", "--help")
    #expect(result.status == 127)
    #expect(result.errors.contains("--help: command not found"))
  }
}
