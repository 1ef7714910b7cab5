import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

/// The small segments left by ticks are merged.
@Suite(.tags(.medium)) struct CoveringTests {
  /// Typical log output: few sentences, with changing numbers.
  private static func line(_ number: Int) -> [UInt8] {
    var random = SeededGenerator(case: number, seed: 1)
    let (one, other) = (
      Int.random(in: 0..<1000, using: &random), Int.random(in: 0..<300, using: &random)
    )
    let text = [
      "query table=orders rows=\(one) took=\(other)ms cached=false",
      "GET /api/v2/invoices/\(one) answered 200 after \(other) ms",
      "heartbeat ok, queue=\(one) workers=8/8 memory=\(other)MiB",
      "retrying upload of part \(one) after \(other) ms: connection reset by peer",
      "session \(one) of user u\(other) has expired",
    ]
    return Array("\(text[Int.random(in: 0..<5, using: &random)])\n".utf8)
  }

  private func write(_ writer: SessionWriter, _ number: Int) {
    Self.line(number).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
  }

  private func objects(_ site: Site, _ session: SessionID) async throws -> Int {
    try await site.remote(session).keys.count
  }

  @Test func `many small uploads stay few objects and end as one`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    var most = 0
    for number in 0..<300 {
      write(writer, number)
      try await site.upload()
      most = max(most, try await objects(site, writer.session))
      #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
    }
    // 64 ticks, the segments that cover earlier ones, and the first revision.
    #expect(most <= 64 + 300 / 64 + 1, "\(most)")
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    try await site.upload()
    #expect(try await objects(site, writer.session) == 2)
    try await site.expectSealedAndEqual(writer.session)
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests() == [])
  }

  @Test func `merging sends each byte at most twice more`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    var (ticks, all): (ByteCount, ByteCount) = (0, 0)
    for number in 0..<260 {
      for line in 0..<20 { write(writer, number * 20 + line) }
      let stored = try await site.upload().storedBytes
      all += stored
      // A covering segment counts as the tick that it also is.
      if stored < 2_000 { ticks += stored }
    }
    try writer.end(.exit(0))
    all += try await site.upload().storedBytes
    let final = try await site.remote(writer.session).cover(upTo: .max).reduce(0) { $0 + $1.stored }
    let most: ByteCount = ticks * 260 / 256 + final * 2 + 4_000
    #expect(all <= most, "\(all) \(ticks) \(final)")
  }

  @Test func `a segment is deleted only once a listing shows its replacement`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<64 {
      write(writer, number)
      try await site.upload()
    }
    #expect(try await site.remote(writer.session).cover(upTo: .max).count == 1)
    #expect(try await objects(site, writer.session) == 65)
    _ = site.store.takeRequests()
    write(writer, 64)
    try await site.upload()
    let requests = site.store.takeRequests().map { $0.prefix(while: { $0 != " " }) }
    // A folder proves nothing by itself: the covering segment is read back first.
    #expect(
      requests == ["PUT", "LIST", "GET"] + Array(repeating: "DELETE", count: requests.count - 3))
    #expect(try await objects(site, writer.session) == 3)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  @Test(arguments: ["covering cut", "delete refused", "manifest lost"])
  func `merging recovers from cut puts, refused deletions and a lost manifest`(
    what: String
  ) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<63 {
      write(writer, number)
      try await site.upload()
    }
    switch what {
    case "covering cut": site.store.plan(.truncate, on: "PUT")
    case "delete refused":
      site.store.plan(.failBefore(.other), on: "DELETE", times: 1)
    default: break
    }
    for number in 63..<70 {
      write(writer, number)
      try await site.upload()
      if what == "manifest lost", number == 64 {
        try FileManager.default.removeItem(atPath: "\(site.local.home.cachePath)/manifest.sqlite")
      }
    }
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
    try writer.end(.exit(0))
    try await site.upload()
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    #expect(try await objects(site, writer.session) == 2)
    #expect(site.store.unexercised.isEmpty)
  }

  @Test func `without the right to delete, obsolete objects only remain`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    write(writer, 0)
    try await site.upload()
    write(writer, 1)
    try writer.end(.exit(0))
    try await site.upload()
    site.store.plan(.failBefore(.authentication), on: "DELETE")
    let report = try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    #expect(report.supersededLeft.keys.contains(writer.session) && report.stoppedBy == nil)
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests() == [])
    site.local.clock.advance(seconds: 6 * 3_600)
    try await site.upload()
    #expect(try await objects(site, writer.session) == 2)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test func `a changed log does not replace the segments that were sent`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<63 {
      write(writer, number)
      try await site.upload()
    }
    let before = try site.local.log(writer.session)
    let log = try #require(FileHandle(forWritingAtPath: writer.files.log))
    try log.seek(toOffset: 100)
    try log.write(contentsOf: Data("XXXX".utf8))
    write(writer, 63)
    let report = try await site.upload()
    #expect((report.failures.first?.error as? ReplicaError)?.code == .localLogChanged)
    #expect(try await site.remoteBytes(writer.session) == before)
  }
}
