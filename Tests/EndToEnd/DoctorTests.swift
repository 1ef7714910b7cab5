import Foundation
import TestServers
import TestSupport
import Testing

/// `tidemark doctor`, on servers of several kinds.
@Suite(.tags(.large)) struct DoctorTests {
  private struct Report: Decodable {
    struct Check: Decodable {
      let check: String
      let outcome: String
      let received: String
      let missingRight: String?
    }
    struct EnvironmentReport: Decodable {
      let name: String
      let home: String
      let store: String?
    }
    let surroundings: [EnvironmentReport]
    let missingInCron: [String]
    let checks: [Check]
    let grant: String?
  }

  private func report(_ result: Command.Result) throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(result.output))
  }

  @Test func `doctor passes a working WebDAV store and leaves no objects in it`() async throws {
    let server = try LighttpdServer()
    let program = try Program([
      "TIDEMARK_STORE": server.url + "/logs", "TIDEMARK_WEBDAV_USER": ServerLogin.user,
      "TIDEMARK_WEBDAV_PASSWORD": ServerLogin.password,
    ])
    let result = try await program.run("doctor", "--json")
    #expect(result.status == 0 && result.errors.isEmpty)
    let report = try report(result)
    #expect(report.checks.map(\.outcome) == Array(repeating: "ok", count: 10))
    #expect(report.missingInCron.contains("TIDEMARK_WEBDAV_PASSWORD"))
    #expect(report.surroundings.map(\.name).starts(with: ["this shell", "cron"]))
    #expect(report.surroundings[0].home == program.home)
    #expect(report.surroundings[1].home != program.home)
    let left = FileManager.default.enumerator(atPath: server.files)?.compactMap { $0 as? String }
    // The folder remains, empty.
    #expect(left?.filter { $0.contains("probe") }.map { $0.hasSuffix("/probe") } == [true])
  }

  @Test func `an ignored write condition is a note, not a failure`() async throws {
    let server = try RcloneS3Server()
    let program = try Program([
      "TIDEMARK_STORE": "s3://logs/some", "AWS_ENDPOINT_URL": server.url,
      "AWS_ACCESS_KEY_ID": RcloneS3Server.accessKeyID,
      "AWS_SECRET_ACCESS_KEY": RcloneS3Server.secretAccessKey,
    ])
    let result = try await program.run("doctor")
    #expect(result.status == 0)
    #expect(result.text.contains("note    CONDITIONAL"))
    #expect(result.text.contains("MD5"))
    #expect(result.text.contains("access key     the environment"))
    #expect(!result.text.contains(RcloneS3Server.secretAccessKey))
  }

  /// The permissions of a refused login are unknown.
  @Test func `a refused login is not reported as a missing right`() async throws {
    let server = try RcloneS3Server()
    let program = try Program([
      "TIDEMARK_STORE": "s3://logs/some", "AWS_ENDPOINT_URL": server.url,
      "AWS_ACCESS_KEY_ID": RcloneS3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": "another",
    ])
    let result = try await program.run("doctor", "--json")
    #expect(result.status == 77)
    let report = try report(result)
    #expect(report.checks.allSatisfy { $0.missingRight == nil } && report.grant == nil)
  }

  @Test func `a missing right is reported with the policy that grants it`() async throws {
    let denied = ScriptedServer.answer(
      "403 Forbidden", body: "<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
    let server = try ScriptedServer(Array(repeating: denied, count: 40))
    let program = try Program([
      "TIDEMARK_STORE": "s3://logs/some", "AWS_ENDPOINT_URL": server.url, "AWS_REGION": "us-east-1",
      "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y",
    ])
    let result = try await program.run("doctor", "--json")
    #expect(result.status == 77, "\(result.errors)")
    let report = try report(result)
    #expect(report.checks.first?.missingRight == "s3:PutObject")
    #expect(report.checks.filter { $0.outcome == "skipped" }.count == 7)
    #expect(report.grant?.contains("arn:aws:s3:::logs/some/*") == true)
  }

  @Test(arguments: [
    (["doctor", "nonsense"], Int32(78), "Write s3://"),
    (["doctor", "http://127.0.0.1:1/dav"], 75, "Check the host name"),
    (["doctor"], 78, "tidemark init"), (["doctor", "--fix"], 64, "--fix"),
  ])
  func `doctor reports invalid input with the next step`(
    _ arguments: [String], _ status: Int32, _ says: String
  ) async throws {
    let program = try Program()
    let result = try await program.run(arguments)
    #expect(result.status == status)
    #expect(result.errors.contains(says))
  }
}
