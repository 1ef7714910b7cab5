import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// Devices with sessions under one id: whoever may write under one device's id can put another's
/// session id there.
@Suite(.tags(.medium)) struct SharedIDTests {
  enum Forgery: CaseIterable {
    /// A copy that is accepted where no key of its device is known.
    case accepted
    /// The objects as they are: their sidecar names another device.
    case copied
    /// A segment without bytes, and without a sidecar.
    case empty

    /// Whether the other device's copy is rejected; empty if there is nothing to list.
    var rejected: [Bool] {
      switch self {
      case .accepted: [false]
      case .copied: [true]
      case .empty: []
      }
    }
  }

  /// Device ids before and after any other.
  static let others = ["0000000000000000", "zzzzzzzzzzzzzzzz"]

  private let site: Site
  private let writer: SessionWriter
  private var session: SessionID { writer.session }
  private var own: String { site.device.deviceId }

  init() async throws {
    site = try Site()
    writer = try site.local.writer()
    writer.print("one")
    try await site.upload()
  }

  private func seal() async throws {
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  /// Puts a session with the same id under another device's.
  @discardableResult
  private func forge(_ forgery: Forgery, as device: String) async throws -> RemoteSession {
    let remote = try await site.remote(session)
    let folder = SessionFolder(device: device, session: session)
    switch forgery {
    case .empty:
      let hash = String(repeating: "b", count: 16)
      let name = "\(session).g1.000000000000-000000000010.\(hash).0.log.zst"
      _ = try await site.store.put(folder.key + name, [])
    case .copied, .accepted:
      for key in remote.keys where forgery == .copied || !key.hasSuffix(".json") {
        let object = try await site.store.get(key)
        _ = try await site.store.put(key.replacing(remote.folder.key, with: folder.key), object)
      }
    }
    if forgery == .accepted {
      let revision = try #require(remote.revision)
      var sidecar = try await RemoteReader(site.store, knowing: nil).read(
        revision, in: remote.folder)
      sidecar.deviceId = device
      (sidecar.signature, sidecar.previous, sidecar.indexes) = (nil, nil, nil)
      let json = try sidecar.json()
      let name = RevisionName(
        session: session, number: revision.number, status: revision.status,
        length: revision.length, json: json)
      _ = try await site.store.put(folder.key + name.fileName, json)
    }
    return try await FolderListing(folder, in: site.store)[session, in: folder]
  }

  /// The store as another machine sees it.
  private func catalog(
    of reader: TestHome, report: @escaping @Sendable (String) -> Void = { _ in }
  ) -> SessionCatalog {
    var reading = ReadingContext(
      home: reader.home, device: reader.device, machine: site.local.clock.machine)
    reading.store = site.store
    reading.report = report
    var catalog = SessionCatalog(reading)
    catalog.includesUndescribed = true
    return catalog
  }

  @Test(arguments: Forgery.allCases, others)
  func `no device's session hides another's`(_ forgery: Forgery, _ other: String) async throws {
    try await seal()
    try await forge(forgery, as: other)
    let reader = try TestHome()
    let told = Guarded<[String]>([])
    let catalog = catalog(of: reader) { line in told.withLock { $0.append(line) } }
    let devices = [own, other].sorted()

    let found = try await catalog.entries(devices: devices)
    #expect(found.filter { $0.device == own }.map(\.isRejected) == [false])
    #expect(found.filter { $0.device == other }.map(\.isRejected) == forgery.rejected)
    for entry in found {
      let id = entry.deviceSession.name
      let named = try await catalog.entry(matching: id, devices: devices)
      #expect(named.device == entry.device && named.session == session)
    }
    #expect(told.withLock(\.self) == [])

    let whole = session.description
    for id in [whole, String(whole.suffix(8))] {
      guard forgery == .accepted else {
        #expect(try await catalog.entry(matching: id, devices: devices).device == own)
        continue
      }
      let error = await #expect(throws: LookupError.self) {
        try await catalog.entry(matching: id, devices: devices)
      }
      #expect(error?.code == .devices(devices, session))
      #expect(error?.description.contains("'\(devices[0])/\(whole)'") == true)
    }
    let lines = told.withLock(\.self)
    #expect(lines.count == (forgery == .copied ? 2 : 0), "\(lines)")
    #expect(lines.allSatisfy { $0.contains("'\(other)/\(whole)'") })
  }

  @Test(arguments: ["other/", "/", "a/b/", "../"])
  func `what stands before an id is a device's id`(_ device: String) async throws {
    let catalog = catalog(of: site.local)
    let id = device + session.description
    let error = await #expect(throws: LookupError.self) {
      try await catalog.entry(matching: id, devices: [own])
    }
    let code = device == "other/" ? LookupError.Code.none : .notAnID
    #expect(error?.code == code)
  }

  @Test(arguments: Forgery.allCases, others)
  func `a local session goes with its own device's copy`(
    _ forgery: Forgery, _ other: String
  ) async throws {
    try await seal()
    try await forge(forgery, as: other)
    let catalog = catalog(of: site.local)
    let devices = [own, other].sorted()
    let entry = try await catalog.entry(matching: session.description, devices: devices)
    #expect(entry.location == .both && entry.remote?.folder.device == own)
    let found = try await catalog.entries(devices: devices)
    #expect(found.filter { $0.device == other }.map(\.isRejected) == forgery.rejected)
    #expect(found.count == 1 + forgery.rejected.count)
  }

  @Test func `another device's session is not compared with the local log`() async throws {
    try await seal()
    let remote = try await forge(.accepted, as: Self.others[0])
    let finding = try await Verifier(site.context()).verify(remote)
    #expect(finding.problem == nil && !finding.comparedLocally, "\(finding)")
  }

  @Test func `deleting another device's session does not withdraw this home's`() async throws {
    let remote = try await forge(.accepted, as: Self.others[0])
    let context = try site.context()
    let deletion = Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "test")
    let outcomes = try await deletion.delete(session, local: false, remote: remote)
    #expect(outcomes.count == remote.keys.count && outcomes.allSatisfy { $0.error == nil })
    writer.print("two")
    try await seal()
  }

  /// Each of the sessions has a file, and an error, of its own.
  @Test(arguments: Forgery.allCases, others)
  func `a mirror has every device's session`(_ forgery: Forgery, _ other: String) async throws {
    try await seal()
    try await forge(forgery, as: other)
    let mirror = Mirror(of: site)
    let items = try await mirror.puller.plan(devices: [own, other].sorted())
    let failures = await mirror.puller.execute(items, atOnce: 1)
    let forged = DeviceSession(device: other, session: session)
    #expect(Array(failures.keys) == (forgery == .accepted ? [] : [forged]), "\(failures)")
    #expect(try mirror.log(session) == site.local.log(session))

    let reader = try TestHome()
    let keys = KnownKeys(reader.home, named: [:], own: nil)
    /// The device, and the number of reported copies.
    func find(_ id: String) throws -> String {
      var told = 0
      let found = try MirroredSession.find(ShortenedID(id), in: mirror.folder, knowing: keys) {
        _ in told += 1
      }
      return "\(found.sidecar.deviceId) \(told)"
    }
    let id = session.description
    #expect(try find("\(own)/\(id)") == "\(own) 0")
    guard forgery == .accepted else {
      #expect(try find(id) == "\(own) 0")
      return
    }
    let error = #expect(throws: LookupError.self) { try find(id) }
    #expect(error?.code == .devices([own, other].sorted(), session))
    // Where one of them cannot be restored, the other is meant.
    try AtomicFile.write(
      Array("{".utf8), to: "\(mirror.folder)/\(other)/\(session.day)/\(session).json")
    #expect(try find(id) == "\(own) 1")
  }
}
