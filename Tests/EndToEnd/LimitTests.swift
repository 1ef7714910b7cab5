import Foundation
import TestServers
import TestSupport
import Testing

/// Uploads that may do less than there is to do, and stores that need a permission.
@Suite(.tags(.large)) struct LimitTests {
  @Test(arguments: Endpoint.Kind.allCases.filter { $0 != .directory })
  func `a pass stops at its request limit, and the next continues`(
    _ kind: Endpoint.Kind
  ) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(endpoint)
    #expect(try await program.run("init", endpoint.url).status == 0)
    for number in 0..<6 {
      let run = try await program.run("run", "--no-upload", "--", "echo", "line \(number)")
      #expect(run.status == 0)
    }
    var statuses: [Int32] = []
    var segments = 0
    repeat {
      let result = try await program.run("upload", "--max-requests", "8", "--transfers", "8")
      statuses.append(result.status)
      #expect(result.errors.isEmpty, "\(result.errors)")
      let now = try endpoint.segments().count
      #expect(now > segments || statuses.count < 2 || result.status == 0)
      segments = max(segments, now)
    } while statuses.last != 0 && statuses.count < 30
    #expect(statuses.count > 1)
    #expect(statuses.dropLast().allSatisfy { $0 == 1 }, "\(statuses)")
    #expect(statuses.last == 0, "\(statuses)")
    let verified = try await program.run("verify")
    #expect(verified.status == 0, "\(verified.errors)")
    #expect(try await program.run("status").status == 0)
  }

  @Test(arguments: Endpoint.Kind.allCases.filter { $0 != .directory })
  func `a recorder's last upload has the limit of requests, too, and cron sends the rest`(
    _ kind: Endpoint.Kind
  ) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(endpoint)
    try await program.configure { $0 + "\nmax-requests: 8\n" }
    for number in 0..<4 {
      let run = try await program.run("run", "--no-upload", "--", "echo", "line \(number)")
      #expect(run.status == 0)
    }
    // The limit costs the program nothing.
    let last = try await program.run("run", "--", "echo", "last")
    #expect(last.status == 0 && last.text == "last\n", "\(last.errors)")
    var statuses: [Int32] = []
    repeat {
      // On a busy machine the recorder's upload goes on in the background.
      let result = try await program.run("upload", "--wait", "600s")
      statuses.append(result.status)
      #expect(result.errors.isEmpty, "\(result.errors)")
    } while statuses.last != 0 && statuses.count < 30
    #expect(statuses.last == 0 && statuses.dropLast().allSatisfy { $0 == 1 }, "\(statuses)")
    let verified = try await program.run("verify")
    #expect(verified.status == 0, "\(verified.errors)")
    #expect(try await program.list("--remote").count == 5)
    #expect(try endpoint.segments().count >= 5)
  }

  @Test func `init --allow-plaintext saves the permission in the configuration`() async throws {
    let lighttpd = try LighttpdServer()
    // A name other than this machine's; lighttpd accepts requests meant for a proxy as its own.
    let proxy = lighttpd.url.replacing("/dav", with: "")
    let url = "http://store.invalid/dav/logs"
    let program = try Program([
      "http_proxy": proxy, "TIDEMARK_WEBDAV_USER": ServerLogin.user,
      "TIDEMARK_WEBDAV_PASSWORD": ServerLogin.password,
    ])
    #expect(try await program.run("init", url).status == 78)
    let accepted = try await program.run("init", url, "--allow-plaintext")
    #expect(accepted.status == 0, "\(accepted.errors)")
    #expect(try await program.run("run", "--no-upload", "--", "echo", "x").status == 0)
    let upload = try await program.run("upload", "--limit-rate", "100K")
    #expect(upload.status == 0, "\(upload.errors)")
    let configuration = try String(contentsOfFile: program.home + "/tidemark.yaml", encoding: .utf8)
    #expect(configuration.contains("\nallow-plaintext: true\n"))
  }
}
