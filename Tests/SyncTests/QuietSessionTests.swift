import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A session that is silent for weeks and then continues is not considered abandoned.
@Suite(.tags(.medium)) struct QuietSessionTests {
  private static let day: Int64 = 86_400

  /// A pass on a later day, with the store's objects as old as the clock says.
  private func pass(_ site: Site, after days: Int64) async throws {
    site.local.clock.advance(seconds: days * Self.day)
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    OpenSessionReview(context).runIfDue(holding: lock)
    let uploader = Uploader(context)
    let report = try await uploader.execute(uploader.plan(.due), holding: lock)
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
  }

  private func setAge(_ site: Site) throws {
    let devices = "\(site.local.folder)/store/devices"
    for name in try FileManager.default.subpathsOfDirectory(atPath: devices) {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date], ofItemAtPath: "\(devices)/\(name)")
    }
  }

  @Test(arguments: [Consent.logs, .metadata])
  func `a quiet session puts a revision every ten days`(consent: Consent) async throws {
    var site = try Site()
    site.consent = consent
    let writer = try site.local.writer(consent: consent == .metadata ? .metadata : nil)
    Array("x\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try await pass(site, after: 0)
    try setAge(site)
    let first = try await site.remote(writer.session)
    #expect(first.revisions.count == 1)
    try await pass(site, after: 9)
    #expect(try await site.remote(writer.session).revisions.count == 1)
    try await pass(site, after: 1)
    let second = try await site.remote(writer.session)
    #expect(second.revisions.count == 2 && second.revision?.status == .active)
    #expect(second.segments == first.segments)
    try setAge(site)
    try await pass(site, after: 1)
    #expect(try await site.remote(writer.session).revisions.count == 2)
    try writer.end(.exit(0))
    try await pass(site, after: 0)
    #expect(try await site.remote(writer.session).seal?.status == .terminated)
  }
}
