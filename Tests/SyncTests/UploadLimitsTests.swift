import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

@Suite(.tags(.small)) struct UploadLimitsTests {
  @Test(arguments: [Duration.days(6), .days(30), .days(365)])
  func `a quiet open session is renewed three times within its remote retention`(
    _ remote: Duration
  ) {
    var retention = Retention()
    retention.remote = remote
    #expect(UploadLimits(retention).quiet * 3 == remote)
  }

  /// Holes take minutes to read, at a gigabyte a second.
  @Test(.timeLimit(.minutes(5)))
  func `a file of holes is planned without reading it`() throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    let log = try #require(
      FileHandle(forWritingAtPath: site.local.home.files(for: writer.session).log))
    try log.truncate(atOffset: 1 << 40)
    let plan = try Uploader(site.context()).plan()
    #expect(plan.items.count == 1)
  }
}
