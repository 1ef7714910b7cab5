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

  /// A clone of the home took the session for crashed.
  @Test func `an open session outranks a seal that another writer put`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    try await pass(site, after: 0)
    let first = try await site.remote(writer.session)
    var sidecar = try await RemoteReader(site.store, knowing: nil).read(
      try #require(first.revision), in: first.folder)
    sidecar.status = .crashed
    sidecar.objects = first.segments.map(\.fileName)
    let json = try sidecar.json()
    let seal = RevisionName(
      session: writer.session, number: 2, status: .crashed, length: first.mark, json: json)
    _ = try await site.store.put(first.folder.key + seal.fileName, json)
    writer.print("two")
    // An ordinary tick lists nothing.
    _ = site.store.takeRequests()
    site.local.clock.advance(seconds: 60)
    try await site.upload()
    #expect(site.store.takeRequests().filter { !$0.hasPrefix("PUT") }.isEmpty)
    #expect(try await site.remote(writer.session).seal == seal)

    try await pass(site, after: 1)
    let second = try await site.remote(writer.session)
    #expect(second.seal == nil && second.revision?.number == 3)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
    try await pass(site, after: 1)
    #expect(try await site.remote(writer.session).revisions == second.revisions)
    try writer.end(.exit(0))
    try await pass(site, after: 0)
    try await site.expectSealedAndEqual(writer.session)
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
