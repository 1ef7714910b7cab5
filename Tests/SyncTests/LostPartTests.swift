import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// Rotated parts that are missing or damaged: what follows them is sent, and what they had is named.
@Suite(.shiftedTime, .tags(.medium)) struct LostPartTests: RotatedSessions {
  @Test(arguments: [false, true])
  func `what follows a lost part is sent, and the lost bytes are named`(
    isDamaged: Bool
  ) async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, whole) = try await unsent(site, &random)
    let parts = try writer.files.parts()
    try #require(parts.count >= 4)
    let kept = parts[1].compressed + ".kept"
    try File.rename(parts[1].compressed, to: kept)
    if isDamaged { try damage(kept, as: parts[1].compressed) }

    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && !error.detail.contains("pruned"))
    #expect(error.detail.contains("bytes \(parts[1].start) to \(parts[2].start) of"))
    #expect(error.detail.contains(parts[1].plain))
    #expect(error.detail.contains(isDamaged ? "cannot be read" : "is missing"))
    #expect(error.detail.contains("'tidemark show --salvage --remote \(writer.session) > FILE2'"))
    func holdsAllBut(_ hole: Range<StreamOffset>) async throws {
      let remote = try await site.remote(writer.session)
      let ranges = remote.segments(of: 1).map(\.range)
      #expect(ranges.allSatisfy { !$0.overlaps(hole) })
      #expect(ranges.map(\.byteCount).reduce(0, +) + hole.byteCount == ByteCount(whole.count))
      for segment in remote.segments {
        var bytes: [UInt8] = []
        try await site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
        let range = Int(segment.range.lowerBound)..<Int(segment.range.upperBound)
        #expect(bytes == Array(whole[range]))
      }
    }
    try await holdsAllBut(parts[1].start..<parts[2].start)
    let waiting = try Uploader(site.context()).plan().waiting
    #expect(waiting.map(\.reason.code) == ["refused"])
    #expect(waiting.map(\.bytes) == [parts[2].start - parts[1].start])
    let objects = try await site.remote(writer.session).keys
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await site.remote(writer.session).keys == objects)

    // What is recorded later follows at the next attempt, and is not sealed without what is lost.
    write(5, to: writer, &random)
    try writer.end(.exit(0))
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await site.remote(writer.session).seal == nil)
    try File.rename(kept, to: parts[1].compressed)
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test func `a lost part comes back after the rules have changed`() async throws {
    var site = try self.site()
    let writer = try site.local.writer(rotateAt: Self.limit)
    for number in 0..<200 { writer.print("user \(number) a\(number)@example.com") }
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    try #require(parts.count >= 3)
    let kept = parts[1].compressed + ".kept"
    try File.rename(parts[1].compressed, to: kept)
    #expect(try await site.upload().failures.count == 1)
    site.redaction = RedactionRules(groups: ["email"])
    writer.print("user 200 a200@example.com")
    #expect(try await site.upload(.all).failures.count == 1)
    try File.rename(kept, to: parts[1].compressed)
    try writer.end(.exit(0))
    #expect(try await site.upload(.all).failures.isEmpty)
    let remote = try await site.remote(writer.session)
    try #require(remote.seal != nil)
    #expect(try await Verifier(site.context()).verify(remote).problem == nil)
    let sent = String(decoding: try await site.remoteBytes(writer.session), as: UTF8.self)
    for number in 0..<200 { #expect(sent.contains("user \(number) a\(number)@example.com")) }
    #expect(sent.contains("user 200 ") && !sent.contains("a200@"))
  }

  /// The record of the rules is written without a sync: a power failure may lose it.
  @Test(arguments: [false, true])
  func `a lost first part comes back, and is masked`(losesRules: Bool) async throws {
    var site = try self.site()
    site.redaction = RedactionRules(groups: ["email"])
    let writer = try site.local.writer(rotateAt: 600)
    for number in 0..<60 { writer.print("user \(number) a\(number)@example.com") }
    try await compressParts(of: writer)
    try writer.end(.exit(0))
    let part = try #require(try writer.files.parts().first)
    let kept = part.compressed + ".kept"
    try File.rename(part.compressed, to: kept)
    func expectLostBytes() async throws {
      let error = try await site.upload(.all).failures.first?.error as? ReplicaError
      #expect(error?.code == .lostBytes, "\(String(describing: error))")
    }
    try await expectLostBytes()
    if losesRules { try File.remove(writer.files.uploadState) }
    try await expectLostBytes()
    try File.rename(kept, to: part.compressed)
    #expect(try await site.upload(.all).failures.isEmpty)
    let sent = String(decoding: try await site.remoteBytes(writer.session), as: UTF8.self)
    for number in 0..<60 { #expect(sent.contains("user \(number) ")) }
    #expect(!sent.contains("@example.com"))
    let remote = try await site.remote(writer.session)
    #expect(try await Verifier(site.context()).verify(remote).problem == nil)
  }

  /// Nothing here can be compared with what was sent: only its revision says by which rules that was.
  @Test func `parts come back after the record of the rules was lost, and the rules have changed`()
    async throws
  {
    var site = try self.site()
    site.redaction = RedactionRules(groups: ["email"])
    let writer = try site.local.writer(rotateAt: 600)
    for number in 0..<60 { writer.print("user \(number) a\(number)@example.com") }
    try await compressParts(of: writer)
    try writer.end(.exit(0))
    let parts = try writer.files.parts().map(\.compressed)
    try #require(parts.count >= 4)
    try File.rename(parts[0], to: parts[0] + ".kept")
    #expect(try await site.upload(.all).failures.count == 1)
    try File.remove(writer.files.uploadState)
    for part in parts.dropFirst() { try File.rename(part, to: part + ".kept") }
    site.redaction = RedactionRules(groups: [])
    #expect(try await site.upload(.all).failures.count == 1)
    for part in parts { try File.rename(part + ".kept", to: part) }
    let report = try await site.upload(.all)
    #expect(report.failures.isEmpty, "\(report)")
    let sent = String(decoding: try await site.remoteBytes(writer.session), as: UTF8.self)
    for number in 0..<60 { #expect(sent.contains("user \(number) ")) }
    #expect(!sent.contains("@example.com"))
  }

  @Test func `a log with a lost part is sent in several passes, too`() async throws {
    var site = try self.site()
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, whole) = try await unsent(site, &random)
    let parts = try writer.files.parts()
    try #require(parts.count >= 4)
    try File.rename(parts[1].compressed, to: parts[1].compressed + ".kept")
    (site.limits.largestObject, site.limits.smallestObject) = (512, 256)
    var passes = 0
    var failure: ReplicaError?
    while failure == nil, passes < 20 {
      let report = try await site.upload(.all, within: .zero)
      failure = report.failures.first?.error as? ReplicaError
      #expect((report.leftToNextPass[writer.session] == nil) == (failure != nil))
      passes += 1
    }
    #expect(failure?.code == .lostBytes && passes > 2)
    let ranges = try await site.remote(writer.session).segments(of: 1).map(\.range)
    let hole = parts[2].start - parts[1].start
    #expect(ranges.map(\.byteCount).reduce(0, +) + hole == ByteCount(whole.count))
  }

  @Test(arguments: [false, true])
  func `a lost part that was sent keeps nothing from being sent and sealed`(
    losesManifest: Bool
  ) async throws {
    let site = try site()
    let writer = try await sent(site)
    let before = try site.local.log(writer.session)
    let part = try #require(writer.files.parts().dropFirst().first)
    let kept = part.compressed + ".kept"
    try File.rename(part.compressed, to: kept)
    var random = SeededGenerator(case: 2)
    write(30, to: writer, &random)
    try await site.upload()
    #expect(try await prune(site).pruned.isEmpty)
    if losesManifest { try File.remove(site.local.home.cachePath + "/manifest.sqlite") }
    try writer.end(.exit(0))
    try await site.upload()
    let finding = try await Verifier(site.context()).verify(site.remote(writer.session))
    #expect(finding.problem == nil && !finding.comparedLocally)
    try File.rename(kept, to: part.compressed)
    #expect(try await site.remoteBytes(writer.session).starts(with: before))
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test(arguments: [0, 1])
  func `a part that is damaged or missing is a hole`(number: Int) async throws {
    let site = try site()
    let writer = try await sent(site)
    let part = try writer.files.parts()[number]
    let next = try writer.files.parts()[number + 1].start
    try damage(part.compressed, as: part.compressed)
    let damaged = try LocalStream(writer.files)
    #expect(throws: SystemError.self) { try damaged.read(part.start..<part.start + 1) }
    func runs() throws -> [Range<StreamOffset>] {
      try LocalStream(writer.files).runs().map { try $0.available() }
    }
    let ranges = try runs()
    #expect(ranges.count == number + 1 && ranges.last?.lowerBound == next)
    try File.remove(part.compressed)
    #expect(try runs() == ranges)
    #expect(try site.local.home.openSessions() == [writer.session])
  }

  @Test(arguments: [false, true])
  func `what follows a damaged frame, or the newest part, is sent`(isNewest: Bool) async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, whole) = try await unsent(site, &random)
    let parts = try writer.files.parts()
    let part = parts[isNewest ? parts.count - 1 : 1]
    let end = isNewest ? try RecordedLog(writer.files).base : parts[2].start
    let stored = try Data(contentsOf: URL(filePath: part.compressed))
    if isNewest {
      try damage(part.compressed, as: part.compressed)
    } else {
      var damaged = stored
      damaged[damaged.startIndex + 10] ^= 0xff
      try damaged.write(to: URL(filePath: part.compressed))
      #expect(try LocalStream(writer.files).runs().count == 1)
    }
    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && error.detail.contains("\(part.compressed) cannot be read"))
    #expect(error.detail.contains("bytes \(part.start) to \(end) of"))
    let ranges = try await site.remote(writer.session).segments(of: 1).map(\.range)
    #expect(ranges.allSatisfy { !$0.overlaps(part.start..<end) })
    #expect(
      ranges.map(\.byteCount).reduce(0, +) + (end - part.start) == ByteCount(whole.count))
    try stored.write(to: URL(filePath: part.compressed))
    try writer.end(.exit(0))
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
  }

  /// Without the note, only the recorder knows where its live log begins.
  @Test(arguments: ["kept", "lost", "mistaken"])
  func `the newest part, removed before it was sent, is named`(note: String) async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, whole) = try await unsent(site, &random)
    let part = try #require(try writer.files.parts().last)
    let base = try RecordedLog(writer.files).base
    let kept = part.compressed + ".kept"
    try File.rename(part.compressed, to: kept)
    if note != "kept" {
      try File.remove(writer.files.rotated)
      if note == "mistaken" { try writer.files.restoreNote() }
      writer.tick()
    }
    #expect(try RecordedLog(writer.files).base == base)

    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && error.detail.contains(part.plain))
    #expect(error.detail.contains("bytes \(part.start) to \(base) of"))
    let ranges = try await site.remote(writer.session).segments(of: 1).map(\.range)
    #expect(ranges.allSatisfy { !$0.overlaps(part.start..<base) })
    #expect(ranges.map(\.byteCount).reduce(0, +) + (base - part.start) == ByteCount(whole.count))
    let waiting = try Uploader(site.context()).plan().waiting
    #expect(waiting.map(\.reason.code) == ["refused"])
    #expect(waiting.map(\.bytes) == [base - part.start])

    // What follows has its place in the stream, also after the next rotation.
    write(60, to: writer, &random)
    #expect(try writer.files.parts().contains { $0.start == base })
    try writer.end(.exit(0))
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await site.remote(writer.session).seal == nil)
    try File.rename(kept, to: part.compressed)
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
    #expect(try await site.remoteBytes(writer.session).starts(with: whole))
  }

  @Test func `the newest part, cut before its killed recorder compressed it, is named`()
    async throws
  {
    let site = try site()
    let (session, part, length, whole): (SessionID, LogPart, Int, [UInt8])
    let base: StreamOffset
    do {
      var random = SeededGenerator(case: 3, seed: 1)
      let (writer, bytes) = try await unsent(site, &random)
      (session, whole) = (writer.session, bytes)
      part = try #require(try writer.files.parts().last)
      base = try RecordedLog(writer.files).base
      let content = try writer.files.open(part).read(at: 0, count: 1 << 20)
      length = content.count / 2
      try File.rename(part.compressed, to: part.compressed + ".kept")
      try Data(content.prefix(length)).write(to: URL(filePath: part.plain))
      #expect(try RecordedLog(writer.files).base == base)
    }
    try site.local.crash(session)
    let hole = part.start + ByteCount(length)..<base
    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && error.detail.contains("cut after \(length) bytes"))
    #expect(error.detail.contains("bytes \(hole.lowerBound) to \(hole.upperBound) of"))
    let remote = try await site.remote(session)
    let ranges = remote.segments(of: 1).map(\.range)
    #expect(ranges.allSatisfy { !$0.overlaps(hole) })
    #expect(ranges.map(\.byteCount).reduce(0, +) + hole.byteCount == ByteCount(whole.count))
    // Readers find an ended session that is never sealed.
    #expect(remote.seal == nil && remote.revision?.status == .active)

    try File.rename(part.compressed + ".kept", to: part.compressed)
    try await site.upload(.all)
    try await site.expectSealedAndEqual(session)
    #expect(try await site.remoteBytes(session).starts(with: whole))
  }

  /// What is recorded after it must not wait for objects that never were.
  @Test func `a part that is lost after pruned ones is named, and what follows is sent`()
    async throws
  {
    let site = try site()
    let writer = try await sent(site)
    let mark = try await site.remote(writer.session).mark
    var random = SeededGenerator(case: 2)
    write(100, to: writer, &random)
    try await compressParts(of: writer)
    let whole = try site.local.log(writer.session)
    site.local.clock.advance(seconds: 86_400 + 60)
    let pruned = try await prune(site).pruned
    let parts = try writer.files.parts()
    try #require(parts.count >= 3)
    let (lost, next) = (parts[0], parts[1].start)
    #expect(pruned.last?.end == lost.start)
    let kept = lost.compressed + ".kept"
    try File.rename(lost.compressed, to: kept)

    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && error.detail.contains(lost.plain), "\(error)")
    #expect(error.detail.contains("bytes \(mark) to \(next) of"))
    let ranges = try await site.remote(writer.session).segments(of: 1).map(\.range)
    #expect(ranges.allSatisfy { !$0.overlaps(mark..<next) })
    #expect(ranges.contains { $0.upperBound == StreamOffset(whole.count) })
    try File.rename(kept, to: lost.compressed)
    try writer.end(.exit(0))
    #expect(try await site.upload(.all).failures.isEmpty)
    #expect(try await site.remote(writer.session).seal != nil)
    #expect(try await site.remoteBytes(writer.session).starts(with: whole))
  }

  @Test func `a seal says what a killed session lost with its newest part and its log`()
    async throws
  {
    let site = try site()
    let (session, part, base): (SessionID, LogPart, StreamOffset)
    do {
      var random = SeededGenerator(case: 3, seed: 1)
      let (writer, _) = try await unsent(site, &random)
      session = writer.session
      part = try #require(try writer.files.parts().last)
      base = try RecordedLog(writer.files).base
      try File.remove(part.compressed)
      try File.remove(writer.files.log)
    }
    try site.local.crash(session)
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.sealed == 1, "\(report)")
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    #expect(seal.length == part.start)
    let said = try await RemoteReader(site.store, knowing: nil).read(seal, in: remote.folder)
    #expect(said.lost == base - part.start)
  }

  @Test(arguments: ["same", "edited", "damaged"])
  func `a rotated part that was touched after the seal is compared before it goes`(
    change: String
  ) async throws {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    #expect(try await site.remote(writer.session).seal != nil)
    let part = try writer.files.parts()[1]
    if change == "damaged" {
      try damage(part.compressed, as: part.compressed)
    } else {
      var bytes = try writer.files.open(part).read(at: 0, count: 1 << 20)
      if change == "edited" { bytes[bytes.count / 2] ^= 1 }
      try File.remove(part.compressed)
      try Data(bytes).write(to: URL(filePath: part.plain))
    }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 60)],
      ofItemAtPath: change == "damaged" ? part.compressed : part.plain)
    site.local.clock.advance(seconds: 8 * 86_400)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.count == (change == "same" ? 1 : 0), "\(plan)")
    guard change != "same" else { return }
    let reason = try #require(plan.kept.first?.reason)
    #expect(
      reason.contains(change == "edited" ? "was changed after it was sealed" : "cannot be compared")
    )
  }

  private func reader(
    _ session: SessionID, in site: Site, report: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> SessionReader {
    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(named: "\(session)", on: .any) { _ in }
    return try SessionReader(entry, side: .any, in: catalog, report: report)
  }

  @Test func `a log with a hole is read from the store that has the bytes`() async throws {
    let site = try site()
    let writer = try await sent(site)
    writer.print("not sent yet")
    let whole = try site.local.log(writer.session)
    try File.remove(writer.files.parts()[1].compressed)
    var read: [UInt8] = []
    let reader = try await reader(writer.session, in: site)
    #expect(try await reader.read(RecordChoice(RecordFilter()), .verified) { read += $0 })
    #expect(read == whole)
  }

  @Test func `a search goes on after a hole, and says so`() async throws {
    let site = try site()
    let writer = try site.local.writer(rotateAt: Self.limit)
    let line = String(repeating: "a", count: 80)
    for number in 0..<200 { writer.print("line \(number) \(line)") }
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    try #require(parts.count >= 3)
    try File.remove(parts[1].compressed)
    let reports = Guarded<[String]>([])
    let reader = try await reader(writer.session, in: site) { line in
      reports.withLock { $0.append(line) }
    }
    let search = SessionSearch(try LinePattern("line ", isFixed: true, ignoresCase: false))
    var known: SessionSearch.KnownLines?
    var found: [String] = []
    let (matches, isWhole) = try await search.run(
      in: reader, RecordChoice(RecordFilter()), besides: &known
    ) { finding in
      guard case .piece(.match(let line), _) = finding else { return }
      found.append(String(decoding: line.text, as: UTF8.self))
    }
    #expect(!isWhole && matches == found.count && matches < 200)
    #expect(found.first?.contains("line 0 ") == true)
    #expect(found.last?.contains("line 199 ") == true)
    #expect(reports.withLock(\.count) == 1)
  }

  @Test func `a repair does not call a lost part pruned`() async throws {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    try File.remove(writer.files.parts()[0].compressed)
    let remote = try await site.remote(writer.session)
    _ = try await site.store.delete(remote.segments.map { remote.folder.key + $0.fileName })
    let left = try await site.remote(writer.session)
    let obstacle = try #require(try Verifier(site.context()).obstacle(to: left))
    #expect(obstacle.contains("which this home did not delete"), "\(obstacle)")
  }

  @Test func `salvage reads a local log past its holes and its damage`() async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, whole) = try await unsent(site, &random)
    let parts = try writer.files.parts()
    try #require(parts.count >= 5)
    try File.remove(parts[1].compressed)
    let stored = try Data(contentsOf: URL(filePath: parts[3].compressed))
    try stored.prefix(stored.count / 2).write(to: URL(filePath: parts[3].compressed))

    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(named: "\(writer.session)", on: .local) { _ in }
    let reports = Guarded<[String]>([])
    let reader = try SessionReader(entry, side: .local, in: catalog) { line in
      reports.withLock { $0.append(line) }
    }
    var read: [UInt8] = []
    let isWhole = try await reader.read(RecordChoice(RecordFilter()), .salvaged) { read += $0 }
    #expect(!isWhole && reports.withLock(\.count) == 2)
    let lines = read.split(separator: 0x0a, omittingEmptySubsequences: false)
    let isGap = { (line: ArraySlice<UInt8>) in line.starts(with: Array("[GAP".utf8)) }
    #expect(lines.count(where: isGap) == 2)
    let kept = [
      0..<parts[1].start, parts[2].start..<parts[3].start,
      parts[4].start..<StreamOffset(whole.count),
    ].flatMap { whole[Int($0.lowerBound)..<Int($0.upperBound)] }
    #expect(Array(lines.filter { !isGap($0) }.joined(separator: [0x0a])) == kept)
  }
}
