import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Rotated sessions without the note of the rotation, which says where the live log begins.
@Suite(.shiftedTime, .tags(.medium)) struct LostNoteTests: RotatedSessions {
  @Test(arguments: [false, true])
  func `a rotated session whose note is lost is sent and sealed whole`(
    hasEnded: Bool
  ) async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, whole) = try await unsent(site, &random)
    if hasEnded { try writer.end(.exit(0)) }
    try File.remove(writer.files.rotated)
    #expect(try site.local.log(writer.session).starts(with: whole))
    #expect(try await site.upload().failures.isEmpty)
    if !hasEnded {
      write(60, to: writer, &random)
      #expect(File.exists(writer.files.rotated))
      try writer.end(.exit(0))
      #expect(try await site.upload(.all).failures.isEmpty)
    }
    try await site.expectSealedAndEqual(writer.session)
    #expect(try await site.remoteBytes(writer.session).starts(with: whole))
  }

  @Test func `the newest part of an ended session, removed with the note, is named`() async throws {
    let site = try site()
    let (writer, part) = try await endedUnsent(site)
    let base = try RecordedLog(writer.files).base
    let kept = part.compressed + ".kept"
    try File.rename(part.compressed, to: kept)
    try File.remove(writer.files.rotated)
    try OpenSessionReview(site.context()).runIfDue(
      holding: try #require(try HomeLock.acquire(site.local.home)))
    #expect(try RecordedLog(writer.files).base == base)
    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && error.detail.contains(part.plain))
    #expect(error.detail.contains("bytes \(part.start) to \(base) of"))
    try File.rename(kept, to: part.compressed)
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
  }

  /// Nothing but the names of the parts shows then where the live log belongs.
  @Test(arguments: [false, true])
  func `the lost note of a pruned session is made again`(isByRecorder: Bool) async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    let removed = try await prune(site).pruned
    #expect(!removed.isEmpty)
    let before = try RecordedLog(writer.files)
    let start = before.start
    let bytes = try before.read(start..<before.end())
    try File.remove(writer.files.rotated)
    var random = SeededGenerator(case: 2)
    if isByRecorder {
      write(60, to: writer, &random)
    } else {
      try OpenSessionReview(site.context()).runIfDue(
        holding: try #require(try HomeLock.acquire(site.local.home)))
    }
    let after = try RecordedLog(writer.files)
    #expect(after.start == start)
    let read = try after.read(start..<after.end())
    #expect(read.starts(with: bytes) && (read.count > bytes.count) == isByRecorder)
    write(60, to: writer, &random)
    try writer.end(.exit(0))
    #expect(try await site.upload().failures.isEmpty)
    let remote = try await site.remote(writer.session)
    #expect(remote.seal != nil)
    #expect(try await Verifier(site.context()).verify(remote).problem == nil)
    let sent = try await site.remoteBytes(writer.session)
    #expect(try Array(sent[Int(start)...]) == site.local.log(writer.session))
  }

  @Test func `without the note, a session whose newest part is damaged is not sealed`()
    async throws
  {
    let site = try site()
    let (writer, part) = try await endedUnsent(site)
    let stored = try Data(contentsOf: URL(filePath: part.compressed))
    try damage(part.compressed, as: part.compressed)
    try File.remove(writer.files.rotated)
    #expect(throws: SystemError.self) { try RecordedLog(writer.files) }
    let skipped = try Uploader(site.context()).plan().skipped
    #expect(skipped.map(\.session) == [writer.session])
    #expect(skipped.map(\.why.code) == ["unreadable"])
    try await site.upload()
    let remote = try await site.remote(writer.session)
    #expect(remote.seal == nil && remote.segments.isEmpty)
    try stored.write(to: URL(filePath: part.compressed))
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
  }
}
