import Foundation
import TestServers
import TestSupport
import Testing

/// Reads sessions that are complete on this machine while the store fails.
@Suite(.tags(.large)) struct LocalReadingTests {
  /// An uploaded session, then a store that nothing listens for.
  private func recorded() async throws -> (program: Program, id: String) {
    var program = try Program()
    try await program.run("init", program.environment["URL"] ?? "")
    try await program.run("run", "--no-upload", "--app", "numbers", "--", "seq", "100")
    #expect(try await program.run("upload").status == 0)
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    program.environment["TIDEMARK_STORE"] = "http://127.0.0.1:1/dav"
    return (program, id)
  }

  @Test func `a session that is whole here is read without the store`() async throws {
    let (program, id) = try await recorded()
    let log = try program.log(id)
    let shown = try await program.run("show", "--raw", id)
    #expect(shown.status == 0 && shown.output == log && shown.errors.isEmpty)
  }

  @Test func `a shortened id falls back to the local session, and says so`() async throws {
    let (program, id) = try await recorded()
    let shown = try await program.run("show", "--raw", String(id.suffix(8).prefix(5)))
    #expect(shown.status == 0)
    #expect(shown.output == (try program.log(id)))
    #expect(shown.errors.contains("reading the local log"))
  }

  @Test func `an ambiguous local id is refused even if the store is unreachable`()
    async throws
  {
    let (program, id) = try await recorded()
    try await program.run("run", "--no-upload", "--app", "numbers", "--", "seq", "100")
    let shown = try await program.run("show", String(id.prefix(8)))
    #expect(shown.status == 64 && shown.errors.contains("is the start of 2 session ids"))
  }

  @Test func `a session that is incomplete on this machine needs the store`() async throws {
    let (program, id) = try await recorded()
    #expect(try await program.run("show", "--remote", id).status == 75)
    let absent = "20260101t000000z-aaaaaaaa"
    #expect(try await program.run("show", absent).status == 75)
    let day = "\(id.prefix(4))-\(id.dropFirst(4).prefix(2))-\(id.dropFirst(6).prefix(2))"
    try FileManager.default.removeItem(atPath: "\(program.home)/sessions/\(day)/\(id).log")
    #expect(try await program.run("show", id).status == 75)
  }
}
