import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.tags(.large)) struct OperatorReapTests {
  @Test(arguments: Endpoint.Kind.allCases)
  func `reap --all-devices reports each device`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let programs = [try Program(endpoint), try Program(endpoint)]
    for program in programs {
      #expect(try await program.run("init", endpoint.url).status == 0)
      try await program.record("true")
    }
    let kept = try await programs[0].run("reap", "--remote", "--all-devices", "--dry-run")
    #expect(kept.status == 0, "\(kept.errors)")
    let lines = kept.text.split(separator: "\n").filter { $0.hasPrefix("device ") }
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("would delete 0 sessions") })
    #expect(lines.allSatisfy { $0.hasSuffix("1 session kept") }, "\(kept.text)")
  }

  @Test func `the lifecycle rule is printed only for S3`() async throws {
    let endpoint = try Endpoint(.s3)
    let program = try Program(endpoint)
    #expect(try await program.run("init", endpoint.url).status == 0)
    let printed = try await program.run("reap", "--print-lifecycle")
    #expect(printed.status == 0, "\(printed.errors)")
    #expect(printed.text.contains("<Prefix>prefix/devices/</Prefix>"))
    #expect(printed.text.contains("<Days>60</Days>"))
    let later = try await program.run(
      "reap", "--print-lifecycle", "--older-than", "7d", "--longest-session", "90d")
    #expect(later.text.contains("<Days>97</Days>"))
    // rclone answers a request for the present rules with a listing.
    let installed = try await program.run("reap", "--install-lifecycle", "--yes")
    #expect(installed.status == 78, "\(installed.errors)")
    #expect(installed.errors.contains("ListBucketResult"))
    let other = try Program([:])
    #expect(try await other.run("init", "file://\(other.folder.path)/store").status == 0)
    let refused = try await other.run("reap", "--print-lifecycle")
    #expect(refused.status == 78 && refused.errors.contains("only S3 buckets"))
    #expect(try await other.run("reap", "--all-devices").status == 64)
  }
}
