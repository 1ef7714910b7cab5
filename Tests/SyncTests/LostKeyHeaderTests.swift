import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Logs that lack the beginning of a private key: the rest would not be masked.
@Suite(.shiftedTime, .tags(.medium)) struct LostKeyHeaderTests: RotatedSessions {
  private let line = String(repeating: "MIIEowIBAAKCAQEA", count: 4)
  private let header = "-----BEGIN RSA PRIVATE KEY-----"
  private let footer = "-----END RSA PRIVATE KEY-----"
  private let other = "all is well, and that is all there is to say"

  private func print(_ line: String, _ count: Int, to writer: SessionWriter) {
    for _ in 0..<count { writer.print(line) }
  }

  /// The bytes of all segments of a session.
  private func sent(_ session: SessionID, in site: Site) async throws -> String {
    let remote = try await site.remote(session)
    var sent: [UInt8] = []
    for segment in remote.segments {
      try await site.context().reader.read(segment, in: remote.folder) { sent += $0 }
    }
    return String(decoding: sent, as: UTF8.self)
  }

  /// Ends a session whose log is whole again.
  private func expectSealedMasked(_ writer: SessionWriter, in site: Site) async throws {
    try writer.end(.exit(0))
    let report = try await site.upload(.all)
    #expect(report.failures.isEmpty, "\(report)")
    #expect(try await site.remote(writer.session).seal != nil)
    let text = String(decoding: try await site.remoteBytes(writer.session), as: UTF8.self)
    #expect(text.contains(other) && !text.contains(line))
  }

  /// Before it was lost, all of it was sent as one object.
  @Test func `a crash card lacks the rest of a key whose beginning is lost`() async throws {
    let site = try site()
    let (session, part): (SessionID, LogPart)
    do {
      let writer = try site.local.writer(rotateAt: 1_500)
      session = writer.session
      writer.print(header)
      print(line, 40, to: writer)
      writer.print(footer)
      print(other, 100, to: writer)
      try await compressParts(of: writer)
      part = try #require(try writer.files.parts().first)
      site.local.clock.advance(seconds: 120)
      #expect(try await site.upload().failures.isEmpty)
    }
    try File.remove(part.compressed)
    try site.local.crash(session)
    #expect(try await site.upload(.all).failures.isEmpty)
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    let said = try await RemoteReader(site.store, knowing: nil).read(seal, in: remote.folder)
    let lines = try #require(said.crash?.lines)
    #expect(lines.contains { $0.contains(other) } && !lines.contains { $0.contains(line) })
  }

  /// What a log has after the lost beginning of a key.
  enum Rest: CaseIterable { case key, withoutFooter, digests }

  @Test(arguments: Rest.allCases)
  func `the rest of a key whose beginning was in a lost part is held back`(
    _ rest: Rest
  ) async throws {
    let site = try site()
    let writer = try site.local.writer(rotateAt: 600)
    let isKey = rest != .digests
    let line = isKey ? self.line : String(repeating: "3082045f02010030", count: 4)
    if isKey { writer.print(header) }
    print(line, 20, to: writer)
    if rest == .key { writer.print(footer) }
    print(other, 10, to: writer)
    try await compressParts(of: writer)
    try writer.end(.exit(0))
    let parts = try writer.files.parts()
    try #require(parts.count >= 3)
    try File.remove(parts[0].compressed)
    let whole = try site.local.log(writer.session)
    let failures = try await site.upload().failures
    #expect(failures.count == 1)
    let text = try await sent(writer.session, in: site)
    #expect(text.contains("SESSION END") && text.contains(other))
    #expect(text.contains(line) == !isKey)
    #expect(!isKey || !text.contains("PRIVATE KEY"))
    #expect(isKey || text.utf8.count == whole.count)
  }

  @Test func `lines of a key whose beginning is lost are held back before its end is printed`()
    async throws
  {
    let site = try site()
    let writer = try site.local.writer(rotateAt: 600)
    writer.print(header)
    print(line, 20, to: writer)
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    try #require(parts.count >= 3)
    let kept = parts[0].compressed + ".kept"
    try File.rename(parts[0].compressed, to: kept)
    #expect(try await site.upload().failures.count == 1)
    #expect(try await sent(writer.session, in: site).contains(line) == false)

    print(line, 3, to: writer)
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await sent(writer.session, in: site).contains(line) == false)
    writer.print(footer)
    print(other, 10, to: writer)
    #expect(try await site.upload(.all).failures.count == 1)
    let text = try await sent(writer.session, in: site)
    #expect(text.contains(other) && !text.contains(line) && !text.contains("PRIVATE KEY"))

    try File.rename(kept, to: parts[0].compressed)
    try await expectSealedMasked(writer, in: site)
  }

  @Test(arguments: [false, true])
  func `the rest of a key is held back if the part with its beginning was sent, and is lost`(
    hasFooter: Bool
  ) async throws {
    let site = try site()
    let writer = try site.local.writer(rotateAt: 1_500)
    writer.print(header)
    print(line, 20, to: writer)
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    try #require(parts.count == 1)
    // What is idle is sent to its end.
    site.local.clock.advance(seconds: 120)
    #expect(try await site.upload().failures.isEmpty)
    let mark = try await site.remote(writer.session).mark
    let length = try RecordedLog(writer.files).end()
    try #require(mark == length)
    let kept = parts[0].compressed + ".kept"
    try File.rename(parts[0].compressed, to: kept)

    print(line, 3, to: writer)
    if hasFooter { writer.print(footer) }
    print(other, 10, to: writer)
    let error = try #require(try await site.upload(.all).failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes, "\(error)")
    #expect(error.detail.contains("bytes \(mark) to "), "\(error)")
    #expect(error.detail.contains("the rest of a private key"), "\(error)")
    let text = try await sent(writer.session, in: site)
    #expect(text.contains(other) && !text.contains(line))
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await sent(writer.session, in: site) == text)

    try File.rename(kept, to: parts[0].compressed)
    try await expectSealedMasked(writer, in: site)
  }

  @Test func `the rest of a key whose header was edited out of a sent log is not sent`()
    async throws
  {
    let site = try site()
    let (session, path): (SessionID, String)
    let before: [UInt8]
    do {
      let writer = try site.local.writer()
      (session, path) = (writer.session, writer.files.log)
      writer.print("hello")
      writer.print(header)
      print(line, 12, to: writer)
      // What is idle is sent to its end.
      site.local.clock.advance(seconds: 120)
      #expect(try await site.upload().failures.isEmpty)
      before = try await site.remoteBytes(session)
      try #require(try site.local.log(session).count == before.count)
      print(line, 12, to: writer)
    }
    try site.local.crash(session)
    let log = try String(contentsOfFile: path, encoding: .utf8)
    try log.replacingOccurrences(
      of: header, with: String(repeating: "x", count: header.utf8.count)
    ).write(toFile: path, atomically: false, encoding: .utf8)
    let report = try await site.upload(.all)
    #expect(report.failures.isEmpty && report.sealed == 1, "\(report)")
    #expect(report.sealedAsSent[session] != nil, "\(report)")
    #expect(try await site.remoteBytes(session) == before)
    #expect(try await sent(session, in: site).contains(line) == false)
  }
}
