import Platform
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
}
