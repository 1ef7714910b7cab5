import Crypto
import Delta
import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
@testable import Sync
import TestSupport
import Testing

/// A mirror of a store that shows less than it had, or objects that were never sent.
@Suite(.tags(.medium)) struct PullerTests {
  private let site: Site
  private let writer: SessionWriter
  private let mirror: Mirror
  private var session: SessionID { writer.session }

  /// An open session of three segments in the store, and its mirror.
  init() async throws {
    site = try Site()
    writer = try site.local.writer()
    mirror = Mirror(of: site)
    for text in ["one", "two", "three"] { try await tick(text) }
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
  }

  private func tick(_ text: String) async throws {
    Array("\(text)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    site.local.clock.advance(seconds: 3600)
    try await site.upload()
  }

  private func seal() async throws {
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  private func files() throws -> [[UInt8]] {
    [try mirror.log(session), try mirror.file("\(session).json")]
  }

  /// Objects by their names.
  private func objects() async throws -> [(key: String, bytes: [UInt8])] {
    var found: [(String, [UInt8])] = []
    for key in try await site.remote(session).keys {
      found.append((key, try await site.store.get(key)))
    }
    return found
  }

  private func put(_ objects: [(key: String, bytes: [UInt8])]) async throws {
    _ = try await site.store.delete(try await site.remote(session).keys)
    for object in objects { _ = try await site.store.put(object.key, object.bytes) }
  }

  /// A valid segment with other bytes than the log's.
  private func forge(_ bytes: [UInt8], at start: StreamOffset) async throws {
    try await site.forge(bytes, at: start, of: session)
  }

  // MARK: Less than there was

  @Test func `a listing without the last segment does not shorten the mirror`() async throws {
    let before = try files()
    let last = try #require(try await site.remote(session).segments.last)
    _ = try await site.store.delete([try await site.remote(session).folder.key + last.fileName])
    let failure = try #require(try await mirror.pull()[session] as? ReplicaError)
    #expect(failure.code == .missingBytes)
    #expect(failure.detail.contains("the mirror has \(before[0].count) bytes"), "\(failure)")
    #expect(failure.detail.contains("shows \(last.range.lowerBound)"), "\(failure)")
    #expect(try files() == before)
  }

  @Test func `a listing without the first segment does not shorten the mirror`() async throws {
    let before = try files()
    let remote = try await site.remote(session)
    let first = try #require(remote.segments.first)
    _ = try await site.store.delete([remote.folder.key + first.fileName])
    try await tick("four")
    // Bytes after the mirror's end are there; those that the mirror has are not searched for.
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
    #expect(try mirror.log(session).starts(with: before[0]))
  }

  @Test func `a session without its sidecar is named`() async throws {
    let before = try files()
    let remote = try await site.remote(session)
    let names = remote.revisions.map { remote.folder.key + $0.fileName }
    #expect(!names.isEmpty)
    _ = try await site.store.delete(names)
    for isEmpty in [false, true] {
      if isEmpty { try FileManager.default.removeItem(atPath: mirror.folder) }
      let failure = try #require(try await mirror.pull()[session] as? ReplicaError)
      #expect(failure.detail.contains("without a sidecar"), "\(failure)")
      if !isEmpty { #expect(try files() == before) }
    }
    // A hold alone is no session.
    try await RemoteHold(site.context()).keep(site.remote(session), for: .days(1))
    _ = try await site.store.delete(
      remote.segments.map { remote.folder.key + $0.fileName })
    #expect(try await mirror.pull().isEmpty)
  }

  @Test func `an outdated listing does not remove a seal from the mirror`() async throws {
    let open = try await objects()
    try await seal()
    #expect(try await mirror.pull().isEmpty)
    let before = try files()
    try await put(open)
    #expect(try await mirror.pull()[session] is ReplicaError)
    #expect(try files() == before)
    #expect(try mirror.names(of: session).count == 2)
  }

  @Test(arguments: [false, true])
  func `a revision older than the mirror's seal changes nothing, whatever it comes with`(
    isFormer: Bool
  ) async throws {
    let open = try await objects()
    try await seal()
    var mirror = mirror
    mirror.puller.replacesFormer = true
    if isFormer {
      // The seal is of a later generation.
      try await redact()
    }
    #expect(try await mirror.pull().isEmpty)
    let before = try files()
    try await put(open)
    try await forge(Array("forged\n".utf8), at: StreamOffset(before[0].count))
    for _ in 0..<2 {
      let failure = try #require(try await mirror.pull()[session] as? ReplicaError)
      #expect(failure.detail.contains("the store shows it as open"), "\(failure)")
      #expect(try files() == before)
    }
    #expect(try mirror.names(of: session).count == 2)
  }

  @Test func `an older seal does not replace a later one`() async throws {
    try await seal()
    let former = try await objects()
    #expect(try await mirror.pull().isEmpty)
    try await redact()
    var mirror = mirror
    mirror.puller.replacesFormer = true
    #expect(try await mirror.pull().isEmpty)
    let before = try files()
    try await put(former)
    #expect(try await mirror.pull()[session] is ReplicaError)
    #expect(try files() == before && mirror.names(of: session).count == 2)
  }

  @Test func `a redacted log takes the place of a mirror's sealed one once it is sealed`()
    async throws
  {
    try await seal()
    var mirror = mirror
    mirror.puller.replacesFormer = true
    #expect(try await mirror.pull().isEmpty)
    let before = try mirror.log(session)
    try await redact(isSealing: false)
    #expect(try await mirror.pull()[session] is ReplicaError)
    #expect(try mirror.log(session) == before)
    try await redact()
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) != before)
    #expect(try mirror.names(of: session).count == 2)
  }

  @Test func `a revision of an earlier generation replaces nothing`() async throws {
    try await seal()
    let former = try await objects()
    try await redact(isSealing: false)
    var mirror = mirror
    mirror.puller.replacesFormer = true
    #expect(try await mirror.pull().isEmpty)
    let before = try files()
    try await put(former)
    let failure = try #require(try await mirror.pull()[session] as? ReplicaError)
    #expect(failure.detail.contains("older than what the mirror has"), "\(failure)")
    #expect(try files() == before)
  }

  /// Redacts the sealed session, or continues that.
  private func redact(isSealing: Bool = true) async throws {
    var site = site
    site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "word", near: "two", pattern: "two")])
    let redaction = try RemoteRedaction(site.context())
    if let item = try await redaction.plan(session) { try redaction.begin(item) }
    if !isSealing {
      site.store.plan(.failBefore(.unreachable), on: "PUT", keyContaining: ".terminated.", times: 9)
    }
    for _ in 0..<2 {
      site.local.clock.advance(seconds: 3600)
      do {
        try await site.upload()
      } catch {
        if isSealing { throw error }
      }
    }
    _ = site.store.forgetPlans()
    let remote = try await site.remote(session)
    #expect(remote.generation == 2 && (remote.seal != nil) == isSealing)
  }

  @Test func `a mirrored log stays if it cannot be fetched again`() async throws {
    try await seal()
    #expect(try await mirror.pull().isEmpty)
    // The mirror lost a byte, as its sidecar proves, and the store cannot supply it: the seal's JSON
    // is to be fetched again.
    let path = "\(mirror.place(session))/\(session)"
    var log = try mirror.log(session)
    log[3] ^= 1
    try Data(log).write(to: URL(filePath: path + ".log"))
    try Data(mirror.file("\(session).json") + [0x0a]).write(to: URL(filePath: path + ".json"))
    let remote = try await site.remote(session)
    let key = remote.folder.key + (try #require(remote.cover(upTo: .max).last).fileName)
    let object = try await site.store.get(key)
    _ = try await site.store.put(key, object.map { $0 ^ 0x55 })
    #expect(try await mirror.pull()[session] != nil)
    #expect(try mirror.log(session) == log)
    #expect(try mirror.names(of: session) == ["\(session).json", "\(session).log"])
    _ = try await site.store.put(key, object)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
    #expect(try mirror.names(of: session).count == 2)
  }

  @Test func `a failed append leaves the mirrored log unchanged`() async throws {
    let before = try files()
    try await tick("four")
    let length = try site.local.log(session).count
    try await tick("five")
    let remote = try await site.remote(session)
    let last = try #require(remote.segments.last)
    #expect(last.range.lowerBound == StreamOffset(length))
    let key = remote.folder.key + last.fileName
    let object = try await site.store.get(key)
    _ = try await site.store.put(key, object.map { $0 ^ 0x55 })
    #expect(try await mirror.pull()[session] is ReplicaError)
    #expect(try files() == before)
    _ = try await site.store.put(key, object)
    // Bytes delivered before the store becomes unreachable are kept.
    site.store.plan(.failBefore(.transient), on: "GET", keyContaining: last.fileName)
    #expect(try await mirror.pull()[session] is StoreError)
    #expect(try mirror.log(session).count == length)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
  }

  // MARK: What was never sent

  @Test func `a segment that the seal does not name is not mirrored`() async throws {
    try await seal()
    let length = try site.local.log(session).count
    try await forge([UInt8](repeating: 0x78, count: length + 9) + [0x0a], at: 0)
    let fresh = Mirror(of: site)
    try FileManager.default.removeItem(atPath: fresh.folder)
    #expect(try await fresh.pull().isEmpty)
    #expect(try fresh.log(session) == site.local.log(session))
    let finding = try await Verifier(site.context()).verify(site.remote(session))
    #expect(finding.problem == nil, "\(finding)")
    let follower = RemoteFollower(try await site.remote(session), in: site.store, knowing: nil)
    let end = try await follower.poll().range.upperBound
    #expect(try await follower.read(0..<Int64(end)) == site.local.log(session))
  }

  /// The session began before its device's key: elsewhere an unsigned revision is accepted.
  @Test(arguments: [false, true])
  func `an unsigned revision adds nothing to a mirror with a signed one`(
    isOpen: Bool
  ) async throws {
    try await seal()
    let home = site.local.home
    func pull(into folder: String) async throws -> [SessionID: any Error] {
      let puller = Puller(
        site.store, into: folder, knowing: KnownKeys(home, named: [:], own: nil))
      let items = try await puller.plan(devices: [site.device.deviceId])
      let failures = await puller.execute(items, atOnce: 1)
      return Dictionary(uniqueKeysWithValues: failures.map { ($0.key.session, $0.value) })
    }
    #expect(try await pull(into: mirror.folder).isEmpty)
    let before = try files()
    #expect(try Sidecar(json: before[1]).signature != nil)
    let remote = try await site.remote(session)
    var sidecar = try Sidecar(json: before[1])
    sidecar.signature = nil
    var length = remote.mark
    if isOpen {
      try await forge(Array("forged\n".utf8), at: length)
      length += 7
      (sidecar.status, sidecar.endedAt) = (.active, nil)
      (sidecar.objects, sidecar.digest, sidecar.previous) = (nil, nil, nil)
    }
    let json = try sidecar.json()
    let name = RevisionName(
      session: session, number: 99, status: sidecar.status, length: length, json: json)
    _ = try await site.store.put(remote.folder.key + name.fileName, json)
    let failures = try await pull(into: mirror.folder)
    let code = (failures[session] as? ReplicaError)?.code
    #expect(code == (isOpen ? .missingBytes : .damagedObject), "\(failures)")
    #expect(try files() == before)
    #expect(try await pull(into: mirror.folder + "2").isEmpty)
  }

  /// Store and home were rolled back together, and went on with other output.
  @Test(arguments: ["sealed", "open", "unknown"])
  func `a log of other bytes is kept aside though no other generation`(state: String) async throws {
    try await seal()
    #expect(try await mirror.pull().isEmpty)
    var other = try mirror.log(session)
    other[other.count - 2] ^= 1
    let path = "\(mirror.place(session))/\(session)"
    try Data(other).write(to: URL(filePath: path + ".log"))
    var sidecar = try Sidecar(json: mirror.file("\(session).json"))
    sidecar.digest = Hex.text(SHA256.hash(data: other))
    if state == "open" { (sidecar.status, sidecar.digest) = (.active, nil) }
    try Data(sidecar.json()).write(to: URL(filePath: path + ".json"))
    if state == "unknown" { try FileManager.default.removeItem(atPath: path + ".json") }
    var kept: [(path: String, isOfOtherGeneration: Bool)] = []
    #expect(try await mirror.pull { kept.append(($1.path, $1.isOfOtherGeneration)) }.isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
    #expect(try mirror.file("\(session).g1.log") == other)
    #expect(kept.map(\.isOfOtherGeneration) == [false])
    #expect(kept.first?.path.hasSuffix("\(session).g1.log") == true)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: session).count == 3)
  }

  @Test func `a shorter seal keeps the longer log aside`() async throws {
    let before = try mirror.log(session)
    let remote = try await site.remote(session)
    let first = try #require(remote.segments.first)
    let folder = remote.folder
    var sidecar = try await RemoteReader(site.store, knowing: nil).read(
      try #require(remote.revision), in: folder)
    sidecar.status = .terminated
    sidecar.objects = [first.fileName]
    sidecar.digest = Hex.text(SHA256.hash(data: before[..<Int(first.range.upperBound)]))
    let json = try sidecar.json()
    let name = RevisionName(
      session: session, number: 99, status: .terminated, length: first.range.upperBound, json: json)
    _ = try await site.store.put(folder.key + name.fileName, json)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == Array(before[..<Int(first.range.upperBound)]))
    #expect(try mirror.file("\(session).g1.log") == before)
  }

  @Test func `a log beyond the size limit is not fetched`() async throws {
    let before = try mirror.log(session)
    try await tick("four")
    var small = mirror
    small.puller.limit = UnpackLimit(maximum: 3)
    let failure = try #require(try await small.pull()[session] as? ReplicaError)
    #expect(failure.code == .tooLong && failure.detail.contains("--max-size"))
    #expect(try mirror.log(session) == before)
    small.puller.limit = UnpackLimit(maximum: 1 << 30)
    #expect(try await small.pull().isEmpty)
  }

  @Test(arguments: ["deviceId", "sessionId"])
  func `a sidecar of another session or device is not mirrored`(field: String) async throws {
    let remote = try await site.remote(session)
    var sidecar = try await RemoteReader(site.store, knowing: nil).read(
      try #require(remote.revision), in: remote.folder)
    sidecar.format = .asIs
    sidecar.fileName = "/var/log/app.log"
    if field == "deviceId" { sidecar.deviceId = "../../escaped" }
    if field == "sessionId" {
      sidecar.sessionId = try #require(SessionID("20260101t000000z-aaaaaaaa"))
    }
    let json = try sidecar.json()
    let name = RevisionName(
      session: session, number: 99, status: .active, length: remote.mark, json: json)
    _ = try await site.store.put(remote.folder.key + name.fileName, json)
    let before = try files()
    let named = Mirror(of: site, linksNames: true)
    let failure = try #require(try await named.pull()[session] as? ReplicaError)
    #expect(failure.code == .damagedObject && failure.detail.contains(name.fileName))
    #expect(try files() == before)
    let all =
      FileManager.default.enumerator(atPath: site.local.folder)?
      .compactMap { $0 as? String } ?? []
    #expect(!all.contains { $0.contains("escaped") || $0.contains("names") })
  }

  @Test(arguments: [
    (String(repeating: "n", count: 300), "too long"),
    (String(repeating: "d/", count: 900) + "x", "folders"), ("file", "name of another file"),
    ("file/x", "name of another file"), ("folder", "folder of another file"),
  ])
  func `a name that no file can have costs a session its second name only`(
    file: String, reason: String
  ) async throws {
    let names = "\(mirror.folder)/\(site.local.device.deviceId)/names"
    try Directory.make("\(names)/folder/\(session).log/below")
    try AtomicFile.write([], to: "\(names)/file")
    let remote = try await site.remote(session)
    var sidecar = try await RemoteReader(site.store, knowing: nil).read(
      try #require(remote.revision), in: remote.folder)
    (sidecar.format, sidecar.fileName) = (.asIs, "/" + file)
    let json = try sidecar.json()
    let name = RevisionName(
      session: session, number: 99, status: .active, length: remote.mark, json: json)
    _ = try await site.store.put(remote.folder.key + name.fileName, json)
    let named = Mirror(of: site, linksNames: true)
    let failure = try #require(try await named.pull()[session] as? ReplicaError)
    #expect(failure.code == .damagedObject && failure.detail.contains("not below names/"))
    #expect(failure.detail.contains(reason), "\(failure)")
    #expect(try mirror.file("\(session).json") == json)
    #expect(try mirror.log(session) == site.local.log(session))
    #expect(try await named.pull().isEmpty)
  }

  // MARK: Space

  @Test func `a pull that would fill the disk is not started`() async throws {
    let before = try files()
    try await tick("four")
    let missing = ByteCount(try site.local.log(session).count - before[0].count)
    var full = mirror
    full.puller.space = FreeSpace { _ in .init(free: missing - 1, isShort: false) }
    let failure = try #require(try await full.pull()[session] as? SpaceShortage)
    #expect(failure.description.contains("takes \(missing) bytes"), "\(failure)")
    #expect(try files() == before)
    full.puller.space = FreeSpace { _ in .init(free: missing, isShort: false) }
    #expect(try await full.pull().isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
  }

  @Test func `free space is checked while writing`() throws {
    let looks = TestClock(0)
    let space = FreeSpace { _ in
      looks.advance(seconds: 1)
      return .init(free: looks.now().milliseconds < 3000 ? .max : 0, isShort: false)
    }
    var watch = try space.watch(0, in: "/", for: "a session")
    try watch.count(16 << 20)
    try watch.count(1 << 20)
    #expect(throws: SpaceShortage.self) { try watch.count(15 << 20) }
  }
}
