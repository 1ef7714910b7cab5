import Foundation
import GRDB
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// Root uploads the sessions of two users under one device: the victim, and an attacker who knows
/// the victim's session ids.
@Suite(.tags(.medium)) struct SessionOwnershipTests {
  private let clock = TestClock()
  private let victim: TestHome
  private let other: TestHome
  private let store: FaultyStore
  private static let key = Array("of root".utf8)
  private static let users = (victim: Account(id: 20_001), other: Account(id: 20_002))

  init() throws {
    victim = try TestHome(clock: clock)
    other = try TestHome(clock: clock)
    store = FaultyStore(try DirectoryStore.prepared(at: "\(victim.folder)/store"))
  }

  private func context(
    _ local: TestHome, _ user: Account, isOwned: Bool = true, _ consent: Consent = .logs,
    claims: SessionClaims? = nil, isSigned: Bool = false
  ) throws -> SyncContext {
    // As if root had lost its record, so that the store has to say whose a session is.
    let claims =
      claims ?? self.claims("\(local.folder)/claims", user)
    let signer = isSigned ? try DeviceKey.load(victim.home, victim.device, on: .current) : nil
    let home = Home(path: local.home.path, owner: isOwned ? user : nil)
      .compressing(with: SegmentCompression())
    return try SyncContext(
      home: home, device: victim.device, store: store, machine: clock.machine, transfers: 4,
      consent: consent,
      ownership: isOwned
        ? SessionOwnership(user, store: store.location, key: Self.key, claims: claims) : nil,
      signer: signer, keys: signer.map { KnownKeys(victim.home, named: [:], own: $0) })
  }

  private func claims(_ path: String, _ user: Account) -> SessionClaims {
    SessionClaims(path, of: user, on: clock.machine) { _ in true }
  }

  private func upload(_ local: TestHome, _ user: Account) async throws -> UploadReport {
    try await onePass(.all) { try context(local, user) }
  }

  /// Uploads like root's process for a home: it claims the home's sessions beforehand.
  private func uploadClaimed(
    _ local: TestHome, _ user: Account, isSigned: Bool = false
  ) async throws -> UploadReport {
    let claims = claims("\(victim.folder)/claims", user)
    try claims.claim(local.home.openSessions())
    return try await onePass(.all) {
      try context(local, user, claims: claims, isSigned: isSigned)
    }
  }

  /// The paths of the sessions' objects.
  private func objects() throws -> Set<String> {
    let all = FileManager.default.enumerator(atPath: "\(victim.folder)/store")
    return Set(all?.compactMap { $0 as? String } ?? []).filter { $0.contains("/20") }
  }

  /// Plants a session with the victim's id in the other home.
  private func plant(
    _ session: SessionID, log: [UInt8], _ change: (inout Sidecar) -> Void = { _ in }
  ) throws {
    let (theirs, ours) = (victim.home.files(for: session), other.home.files(for: session))
    var sidecar = try Sidecar.load(theirs.sidecar)
    (sidecar.seal, sidecar.objects, sidecar.digest) = (nil, nil, nil)
    change(&sidecar)
    try Directory.make(ours.directory)
    try AtomicFile.write(log, to: ours.log)
    try sidecar.save(ours.sidecar)
    try other.home.mark(session)
  }

  /// An empty log and a record that it has ended: with logs, and with consent to metadata only.
  @Test(arguments: [nil, .metadata] as [Consent?])
  func `another user's sealed session is not sealed again`(consent: Consent?) async throws {
    let session = try victim.session(Array("one\ntwo\n".utf8))
    #expect(try await upload(victim, Self.users.victim).failures.isEmpty)
    let before = try objects()
    try plant(session, log: []) { $0.consent = consent }
    let failure = try #require(try await upload(other, Self.users.other).failures.first)
    #expect((failure.error as? ReplicaError)?.code == .foreignSession, "\(failure.error)")
    #expect("\(failure.error)".contains("tidemark import"))
    #expect(try objects() == before)
  }

  /// A sidecar with the victim's id, its log and seal as the attacker likes; and none at all.
  @Test(arguments: [true, false])
  func `another user's home gives no access to the session`(isPlanted: Bool) async throws {
    let session = try victim.session(Array("one\ntwo\n".utf8))
    #expect(try await upload(victim, Self.users.victim).failures.isEmpty)
    if isPlanted {
      try plant(session, log: Array("forged\n".utf8))
      let seal = try #require(try Sidecar.load(victim.home.files(for: session).sidecar).seal)
      let path = other.home.files(for: session).sidecar
      var sidecar = try Sidecar.load(path)
      sidecar.seal = seal
      try sidecar.save(path)
    }
    func remote(_ local: TestHome, _ user: Account) async throws -> [RemoteSession?] {
      let context = try context(local, user)
      var reading = ReadingContext(
        home: context.home, device: context.device, machine: clock.machine)
      reading.store = context.store
      return try await SessionCatalog(reading).entries(devices: [context.device.deviceId])
        .map(\.remote)
    }
    let own = try await remote(victim, Self.users.victim)
    #expect(own.count == 1 && own.first??.session == session)
    let others = try await remote(other, Self.users.other)
    #expect(others.count == (isPlanted ? 1 : 0) && others.allSatisfy { $0 == nil })
  }

  /// The proof in the attacker's cache is genuine: the store had nothing yet when it was made.
  @Test func `a session belongs to the home that had it first, whatever a cache proves`()
    async throws
  {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    let session = writer.session
    try plant(session, log: Array("forged\n".utf8))
    // Another process writes the session: it is open.
    let lock = try FileLock.shared(other.home.files(for: session).lock)
    defer { withExtendedLifetime(lock) {} }
    // Killed between the proof and the first PUT, before the victim's first upload.
    store.plan(.die, on: "PUT", keyContaining: "\(session)")
    _ = try? await upload(other, Self.users.other)
    store.revive()
    #expect(try objects().filter { $0.contains("\(session)") }.isEmpty)
    #expect(try await uploadClaimed(victim, Self.users.victim).failures.isEmpty)
    try writer.end(.exit(0))
    #expect(try await uploadClaimed(victim, Self.users.victim).failures.isEmpty)
    let before = try objects()
    let manifest = try DatabaseQueue(path: other.home.cachePath + "/manifest.sqlite")
    try await manifest.write { try $0.execute(sql: "UPDATE session SET dirty = 0, revision = 9") }
    try #require(
      await manifest.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM session") } == 1)
    for consent in [Consent.metadata, .logs] {
      let local = LocalSession(other.home, session)
      var state = try local.loadUploadState() ?? UploadState()
      state.consent = consent
      try local.write(state, isDurable: false)
      let report = try await uploadClaimed(other, Self.users.other)
      #expect((report.failures.first?.error as? ReplicaError)?.code == .foreignSession)
    }
    #expect(try objects() == before)
  }

  @Test func `a session that appears after root claimed the others waits`() async throws {
    let session = try victim.session(Array("one\n".utf8))
    // Where its process has given up root's rights, the record cannot be written.
    let claims = claims("/dev/null/claims", Self.users.victim)
    let report = try await onePass(.all) {
      try context(victim, Self.users.victim, claims: claims)
    }
    #expect(report.failures.isEmpty && report.waiting.map(\.reason) == [.nextUpload])
    #expect(try objects().isEmpty)
    // One that could not be recorded is named.
    let day = "\(other.folder)/claims/\(session.day)"
    try Directory.make(day)
    let failing = self.claims("\(other.folder)/claims", Self.users.victim)
    #expect(throws: SystemError.self) { try failing.claim([session]) }
    let named = try await onePass(.all) {
      try context(victim, Self.users.victim, claims: failing)
    }
    #expect(named.waiting.map(\.reason).contains { "\($0)".contains("claims") })
    #expect(try objects().isEmpty)
    #expect(try await uploadClaimed(victim, Self.users.victim).failures.isEmpty)
    #expect(try objects().contains { $0.contains("\(session)") })
  }

  /// As after an upgrade from a version that recorded nothing: the other home is uploaded first.
  @Test(arguments: [true, false])
  func `a signed revision says whose a session is, whoever claims it`(isSigned: Bool) async throws {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    #expect(
      try await uploadClaimed(victim, Self.users.victim, isSigned: isSigned).failures.isEmpty)
    try FileManager.default.removeItem(atPath: "\(victim.folder)/claims")
    try plant(writer.session, log: Array("forged\n".utf8))
    let lock = try FileLock.shared(other.home.files(for: writer.session).lock)
    defer { withExtendedLifetime(lock) {} }
    func isRefused(_ local: TestHome, _ user: Account) async throws -> Bool {
      let failure = try await uploadClaimed(local, user, isSigned: isSigned).failures.first
      return (failure?.error as? ReplicaError)?.code == .foreignSession
    }
    let before = try objects()
    #expect(try await isRefused(other, Self.users.other))
    #expect(try objects() == before)
    for text in ["two\n", "three\n"] {
      Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      _ = store.takeRequests()
      // Anybody who may write to the store can put an unsigned one.
      #expect(try await isRefused(victim, Self.users.victim) != isSigned)
    }
    #expect(store.takeRequests().contains { $0.hasPrefix("LIST") } != isSigned)
    #expect(try await isRefused(other, Self.users.other))
    #expect(try (objects().count > before.count) == isSigned)
  }

  @Test func `every revision names its user`() async throws {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = try await upload(victim, Self.users.victim)
    try writer.end(.exit(0))
    _ = try await upload(victim, Self.users.victim)
    let folder = SessionFolder(device: victim.device.deviceId, session: writer.session)
    let remote = try await FolderListing(folder, in: store)[writer.session, in: folder]
    #expect(remote.revisions.count == 2)
    for revision in remote.revisions {
      let sidecar = try await RemoteReader(store, knowing: nil).read(revision, in: folder)
      #expect(sidecar.uid == Self.users.victim.id)
    }
  }

  /// Root's key signs what a user's sidecar says, so it does not say what the machine knows better.
  @Test func `root describes device and start itself`() async throws {
    let (honest, forged) = (
      try victim.session(Array("one\n".utf8)), try victim.session(Array("two\n".utf8))
    )
    let path = victim.home.files(for: forged).sidecar
    var sidecar = try Sidecar.load(path)
    let written = sidecar.startedAt
    #expect(written != forged.startedAt)
    (sidecar.deviceName, sidecar.deviceModel, sidecar.osVersion) = ("bank-1", "vault", "OS/2")
    (sidecar.userId, sidecar.principal) = ("alice", "a1b2")
    sidecar.startedAt = Timestamp(milliseconds: 1_577_836_800_000)
    try sidecar.save(path)
    // Where each user uploads separately, the sidecar is the user's.
    let alone = LocalSession(Home(path: victim.home.path), forged)
    #expect(try alone.sidecar(device: victim.device).sidecar == sidecar)
    #expect(try await upload(victim, Self.users.victim).failures.isEmpty)
    for (session, start) in [(honest, written), (forged, forged.startedAt)] {
      let folder = SessionFolder(device: victim.device.deviceId, session: session)
      let remote = try await FolderListing(folder, in: store)[session, in: folder]
      let sent = try #require(try await RemoteReader(store, knowing: nil).accept(remote).sidecar)
      let device = victim.device
      #expect([sent.deviceName, sent.osVersion] == [device.deviceName, device.osVersion])
      #expect(sent.deviceModel == device.deviceModel)
      #expect(sent.userId == Self.users.victim.name && sent.uid == Self.users.victim.id)
      #expect(sent.startedAt == start)
      // The program's own statements stay.
      #expect(sent.principal == (session == forged ? "a1b2" : nil) && sent.appName == "test")
    }
  }

  /// The victim's whole cache, copied through carelessness.
  @Test func `a copied manifest proves nothing for another user`() async throws {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = try await upload(victim, Self.users.victim)
    let before = try objects()
    let log = try victim.log(writer.session)
    try plant(writer.session, log: log + Array("forged\n".utf8))
    let name = "manifest.sqlite"
    _ = try context(other, Self.users.other)
    for suffix in ["", "-wal", "-shm"] {
      let (from, to) = (victim.home.cachePath, other.home.cachePath)
      try File.remove("\(to)/\(name)\(suffix)")
      guard File.exists("\(from)/\(name)\(suffix)") else { continue }
      try FileManager.default.copyItem(
        atPath: "\(from)/\(name)\(suffix)", toPath: "\(to)/\(name)\(suffix)")
    }
    // Another process writes the session: it is open.
    let lock = try FileLock.shared(other.home.files(for: writer.session).lock)
    let report = try await upload(other, Self.users.other)
    withExtendedLifetime(lock) {}
    #expect((report.failures.first?.error as? ReplicaError)?.code == .foreignSession)
    #expect(try objects() == before)
    // The victim's session continues, without a listing.
    Array("two\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = store.takeRequests()
    #expect(try await upload(victim, Self.users.victim).failures.isEmpty)
    #expect(store.takeRequests().allSatisfy { !$0.hasPrefix("LIST") })
    #expect(try objects().count > before.count)
  }

  /// Only a writer with the bytes can have put them; a log without its first part lacks them.
  @Test(arguments: [0, 4096])
  func `segments without a sidecar belong to the user who has their bytes`(
    pruned: Int
  ) async throws {
    let session = try victim.session(Array("one\ntwo\n".utf8))
    store.plan(.die, on: "PUT", keyContaining: ".terminated.")
    await #expect(throws: CancellationError.self) { try await upload(victim, Self.users.victim) }
    store.revive()
    let before = try objects()
    #expect(before.contains { $0.hasSuffix(".log.zst") } && !before.contains { $0.contains(".s0") })
    try plant(session, log: []) { sidecar in
      guard pruned > 0 else { return }
      sidecar.source = .init(
        path: "/gone", device: 1, inode: 0, base: 0, length: StreamOffset(pruned), headLength: 0,
        headHash: "")
    }
    let report = try await upload(other, Self.users.other)
    #expect(report.failures.count == 1)
    #expect(try objects() == before)
    #expect(try await upload(victim, Self.users.victim).failures.isEmpty)
    #expect(try objects().count == before.count + 1)
  }

  @Test func `a remote session that names no user is not continued`() async throws {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = try await onePass(.all) { try context(victim, Self.users.victim, isOwned: false) }
    let before = try objects()
    Array("two\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    let report = try await upload(victim, Self.users.victim)
    #expect((report.failures.first?.error as? ReplicaError)?.code == .foreignSession)
    #expect(try objects() == before)
  }

  /// Objects that the cache lists as superseded may be another user's.
  @Test func `another user's objects are never cleaned up`() async throws {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = try await upload(victim, Self.users.victim)
    try writer.end(.exit(0))
    _ = try await upload(victim, Self.users.victim)
    let before = try objects()
    #expect(before.count { $0.contains(".s0") } == 2)
    try context(other, Self.users.other).manifest
      .forgetButSuperseded(of: writer.session, due: clock.now())
    _ = try await upload(other, Self.users.other)
    #expect(try objects() == before)
    _ = try await upload(victim, Self.users.victim)
    #expect(try objects().count { $0.contains(".s0") } == 1)
  }

  /// A name that an attacker has put: no number follows it, and nothing is put without one.
  @Test
  func `a session at the highest revision number fails instead of overflowing`() async throws {
    let writer = try victim.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = try await upload(victim, Self.users.victim)
    let folder = SessionFolder(device: victim.device.deviceId, session: writer.session)
    let remote = try await FolderListing(folder, in: store)[writer.session, in: folder]
    let json = try await RemoteReader(store, knowing: nil).accept(remote).json
    let last = RevisionName(
      session: writer.session, number: RevisionName.highestNumber, status: .active, length: 0,
      json: json)
    _ = try await store.put(folder.key + last.fileName, json)
    let before = try objects().filter { $0.hasSuffix(".json") }
    try writer.end(.exit(0))
    let report = try await upload(victim, Self.users.victim)
    #expect((report.failures.first?.error as? ReplicaError)?.code == .damagedObject)
    #expect(try objects().filter { $0.hasSuffix(".json") } == before)
  }
}
