import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Sessions deleted by a person do not come back.
@Suite(.tags(.medium)) struct DeletionTests {
  private func delete(
    _ site: Site, _ session: SessionID, local: Bool, hook: (any FileEffects)? = nil
  ) async throws -> Int {
    let context = try site.context()
    let deletion = Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "test")
    let remote = try await site.remote(session)
    return try await FileEffect.$hook.withValue(hook) {
      try await deletion.delete(session, local: local, remote: remote).count { $0.error != nil }
    }
  }

  private func openSession(_ site: Site) async throws -> SessionWriter {
    let writer = try site.local.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try await site.upload()
    return writer
  }

  /// The store's listings lag.
  @Test(arguments: [true, false], [true, false])
  func `a copy that a listing does not show whole is not left in silence`(
    isSealed: Bool, isAllHidden: Bool
  ) async throws {
    let site = try Site()
    let writer = try await openSession(site)
    writer.print("two")
    if isSealed { try writer.end(.exit(0)) }
    try await site.upload()
    let session = writer.session
    let before = try await site.remote(session)
    let segment = try #require(before.segments.last)
    site.store.hide(isAllHidden ? session.description : segment.fileName)
    let context = try site.context()
    let deletion = Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "test")
    func delete() async throws -> [DeletionOutcome] {
      let listed = try await site.remote(session)
      let remote = listed.keys.isEmpty ? nil : listed
      return try await deletion.delete(
        session, local: false, remote: remote, isRemoteGone: remote == nil)
    }
    let refused = try await delete()
    #expect(
      refused.count == 1 && "\(String(describing: refused[0].error))".contains("run this again"))
    site.store.hide(nil)
    #expect(try await site.remote(session).keys == before.keys)
    let outcomes = try await delete()
    #expect(!outcomes.isEmpty && outcomes.allSatisfy { $0.error == nil })
    #expect(try await site.remote(session).keys.isEmpty)
    try await site.upload(.all)
    #expect(try await site.remote(session).keys.isEmpty)
  }

  /// The owner of a home decides what its sidecars say.
  @Test func `names of another session in a sidecar lead to none of its objects`() async throws {
    let site = try Site()
    let (mine, other) = (
      try site.local.session(Array("x\n".utf8)), try site.local.session(Array("y\n".utf8))
    )
    try await site.upload()
    let remote = try await site.remote(other)
    let path = site.local.home.files(for: mine).sidecar
    var sidecar = try Sidecar.load(path)
    sidecar.objects = remote.segments.map(\.fileName)
    sidecar.seal?.revision = try #require(remote.seal).fileName
    #expect(sidecar.sealedNames(in: site.store.location).isEmpty)
    try sidecar.save(path)
    #expect(try await delete(site, mine, local: true) == 0)
    #expect(try await site.remote(other).keys == remote.keys)
  }

  /// The disk refuses to remove anything.
  @Test func `a session whose local copy stays is not sent again`() async throws {
    let site = try Site()
    let writer = try await openSession(site)
    let files = TestFiles { effect in
      effect.kind == .remove && effect.path.contains("/sessions/") ? EPERM : nil
    }
    #expect(try await delete(site, writer.session, local: true, hook: files) == 1)
    #expect(try await site.remote(writer.session).keys.isEmpty)
    let report = try await site.upload(.all)
    #expect(report.skipped.map(\.why) == [.withdrawn])
    #expect(try await site.remote(writer.session).keys.isEmpty)
  }

  @Test func `a session of which the sidecar is damaged is withdrawn`() async throws {
    let site = try Site()
    let writer = try await openSession(site)
    try Data("{".utf8).write(to: URL(filePath: writer.files.sidecar))
    #expect(try await delete(site, writer.session, local: false) == 0)
    _ = try await site.upload(.all)
    #expect(try await site.remote(writer.session).keys.isEmpty)
  }

  @Test(arguments: ["", nil])
  func `a deleted session whose sidecar is lost later is not sent again`(
    content: String?
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    #expect(try await delete(site, session, local: false) == 0)
    let path = site.local.home.files(for: session).sidecar
    try File.remove(path)
    if let content { try Data(content.utf8).write(to: URL(filePath: path)) }
    for _ in 0..<2 {
      site.local.clock.advance(seconds: 86_400)
      try OpenSessionReview(site.context()).runIfDue(
        holding: try #require(try HomeLock.acquire(site.local.home)))
      #expect(try await site.upload(.all).skipped.map(\.why) == [.withdrawn])
      #expect(try await site.remote(session).keys.isEmpty)
    }
    try Uploader(site.context()).retry(session)
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  @Test func `a session that another device had leaves no note here`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let directory = site.local.home.files(for: session).directory
    try FileManager.default.removeItem(atPath: directory)
    #expect(try await delete(site, session, local: false) == 0)
    #expect(!File.exists(directory))
  }
}
