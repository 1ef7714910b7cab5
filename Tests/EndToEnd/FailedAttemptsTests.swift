import Foundation
import TestServers
import TestSupport
import Testing

/// How a user sees a store that fails.
@Suite(.tags(.large)) struct FailedAttemptsTests {
  private struct Status: Decodable {
    struct Failed: Decodable {
      let session: String?
      let attempts: Int
      let lastError: String
      let nextAttempt: String?
    }
    let failed: [Failed]
  }

  @Test func `a store that refuses the login is not contacted during its pause`() async throws {
    let server = try LighttpdServer()
    var program = try Program([
      "TIDEMARK_STORE": server.url + "/logs", "TIDEMARK_WEBDAV_USER": ServerLogin.user,
      "TIDEMARK_WEBDAV_PASSWORD": "wrong",
    ])
    #expect(try await program.run("run", "--no-upload", "--", "echo", "one").status == 0)
    let first = try await program.run("upload")
    #expect(first.status == 77 && first.errors.contains("user name and the password"))
    // Each attempt doubles the pause, up to one that outlasts this test.
    for _ in 0..<4 { #expect(try await program.run("upload", "--now").status == 77) }
    let asked = try server.accessLog().count
    #expect(asked > 0)
    for _ in 0..<3 {
      let next = try await program.run("upload")
      #expect(next.status == 77 && next.errors.isEmpty)
    }
    #expect(try server.accessLog().count == asked)

    let status = try await program.run("status", "--json")
    let told = try JSONDecoder().decode(Status.self, from: Data(status.output))
    #expect(told.failed.map(\.session) == [nil])
    #expect(told.failed.first?.attempts == 5 && told.failed.first?.nextAttempt != nil)
    #expect(told.failed.first?.lastError.contains("401") == true)
    #expect(!status.text.contains("wrong"))

    program.environment["TIDEMARK_WEBDAV_PASSWORD"] = ServerLogin.password
    let retry = try await program.run("retry")
    #expect(retry.status == 0 && retry.text.contains("will retry the store (last error: "))
    let last = try await program.run("upload")
    #expect(last.status == 0 && last.errors.isEmpty && last.output.isEmpty)
    #expect(try await program.run("verify").status == 0)
    let nothing = try await program.run("retry", "20260122t143005z-k3f9a7c2")
    #expect(nothing.status == 64 && nothing.errors.contains("tidemark status"))
  }
}
