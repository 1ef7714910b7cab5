import Foundation
import ObjectStore
import Platform
import SessionLog
import TestServers
import TestSupport
import Testing
import TidemarkUpload

@testable import Sync
@testable import tidemark

/// What commands say about passes and stores that fail.
@Suite(.tags(.small)) struct PassFailuresTests {
  private let start = ContinuousClock.now
  private let invalid = Failure(.configuration, "tidemark.yaml: line 3: unfinished list")

  @Test func `only the first pass ends a continuous upload by an error of the configuration`()
    throws
  {
    var first = PassFailures()
    #expect(throws: Failure.self) { try first.line(for: invalid, at: start) }
    #expect(throws: Failure.self) { try first.line(for: Failure(.usage, "x"), at: start) }
    var failures = PassFailures()
    failures.pass()
    #expect(try failures.line(for: invalid, at: start) == "\(invalid)")
    #expect(try failures.line(for: invalid, at: start + .seconds(3599)) == nil)
    #expect(try failures.line(for: invalid, at: start + .seconds(3600)) != nil)
    #expect(try failures.line(for: Failure(.usage, "x"), at: start + .seconds(3601)) == "x")
    // It was mended meanwhile.
    failures.pass()
    #expect(try failures.line(for: invalid, at: start + .seconds(3602)) != nil)
  }

  @Test func `other errors never end it`() throws {
    var failures = PassFailures()
    let error = Failure(.tryLater, "the store cannot be reached")
    for second in 0..<3 {
      #expect(try failures.line(for: error, at: start + .seconds(second)) == "\(error)")
    }
    #expect(try failures.line(for: invalid, at: start) != nil)
    #expect(throws: CancellationError.self) {
      try failures.line(for: CancellationError(), at: start)
    }
  }

  @Test func `a partial upload has reasons`() throws {
    let session = try #require(SessionID("20261122t143005z-k3f9a7c2"))
    var report = UploadReport()
    report.skipped = [.init(session: session, why: .refused("403"))]
    #expect(Upload.status(of: report) == .partial)
    let reasons = Upload.reasons(ofPartial: report)
    #expect(reasons.count == 1)
    #expect(reasons.first?.hasPrefix("\(session): ") == true)
    #expect(reasons.first?.contains("403") == true)
    // Waiting for its turn is no reason for anybody to act.
    report.skipped = [.init(session: session, why: .nextUpload)]
    #expect(Upload.status(of: report) != .partial && Upload.reasons(ofPartial: report).isEmpty)
  }

  @Test func `an upload that leaves the rest of a session to the next is to be repeated`() throws {
    let session = try #require(SessionID("20261122t143005z-k3f9a7c2"))
    var report = UploadReport()
    report.record(.leftToNextPass(session: session, rest: 5))
    #expect(Upload.status(of: report) == .tryLater && Upload.reasons(ofPartial: report).isEmpty)
    report.skipped = [.init(session: session, why: .refused("403"))]
    #expect(Upload.status(of: report) == .partial)
  }

  @Test func `an upload is partial while proven copies are gone from the store`() throws {
    let session = try #require(SessionID("20261122t143005z-k3f9a7c2"))
    var pass = UploadPassReport(device: "d", store: "file:///store")
    #expect(Upload.status(of: pass) == .ok)
    pass.vanished = VanishedCopies([.init(session, leaving: .whole)])
    #expect(Upload.status(of: pass) == .partial)
    pass.upload.stoppedBy = StoreError(.unreachable, operation: "GET", target: "x", response: "y")
    #expect(Upload.status(of: pass) == .tryLater)
  }

  @Test func `an upload is partial while attached files cannot be read`() {
    var pass = UploadPassReport(device: "d", store: "file:///store")
    pass.unreadable = ["/var/log/a.log": "cannot be opened: Permission denied"]
    #expect(Upload.status(of: pass) == .partial)
  }

  @Test func `only commands with --local advise it`() {
    let home = Home(path: "/home")
    let root = CommandContext.NotSending.servedByRoot
    #expect(!"\(root.failure(in: home))".contains("--local"))
    #expect("\(root.failure(in: home, offersLocal: true))".contains("or use --local"))
  }

  @Test func `a cache that cannot be read has a reason`() throws {
    let folder = try TemporaryDirectory()
    let home = Home(path: folder.path)
    #expect(UnreadableCache.problem(of: home) == nil)
    try home.create()
    let path = home.cachePath + "/manifest.sqlite"
    _ = try Manifest(home: home, store: "file:///store", device: "a")
    #expect(UnreadableCache.problem(of: home) == nil)
    try Data(repeating: 7, count: 5000).write(to: URL(filePath: path))
    #expect(UnreadableCache.problem(of: home)?.contains(path) == true)
  }
}
