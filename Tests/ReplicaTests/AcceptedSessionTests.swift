import Platform
import SessionLog
import TestSupport
import Testing

@testable import Replica

/// A writer of the store can delete a session, but cannot add to it.
@Suite(.tags(.medium)) struct AcceptedSessionTests {
  private let home: TestHome
  private let key: DeviceKey

  init() throws {
    home = try TestHome()
    try home.home.create()
    let created = try #require(Timestamp(iso: "2026-01-20T00:00:00.000Z"))
    key = try DeviceKey(
      deviceId: "device", created: created, seed: Array(repeating: 7, count: 32))
  }

  private var keys: KnownKeys { KnownKeys(home.home, named: [:], own: key) }

  private func put(
    _ sidecar: Sidecar, _ number: Int, _ made: StoredGenerations, signed: Bool
  ) throws -> RevisionName {
    func name(_ json: [UInt8]) -> RevisionName {
      RevisionName(
        session: made.session, number: number, status: sidecar.status,
        generation: sidecar.generation ?? 1, length: StreamOffset(made.stream.count), json: json)
    }
    var json = try sidecar.json()
    if signed { json = try key.sign(sidecar, as: name(json), in: made.folder) }
    made.store[made.folder.key + name(json).fileName] = json
    return name(json)
  }

  /// A session with a signed seal, and behind its end a segment that the seal does not name.
  private func made() async throws -> (StoredGenerations, seal: RevisionName, Sidecar) {
    var made = try StoredGenerations()
    try made.grow(Array("one\n".utf8))
    let bare = try await made.seal(device: home.device, number: 1)
    let sidecar = try await RemoteReader(made.store, knowing: nil).read(bare, in: made.folder)
    made.store[made.folder.key + bare.fileName] = nil
    let seal = try put(sidecar, 2, made, signed: true)
    let forged = Array("forged\n".utf8)
    made.put(forged, literals: forged, nil, at: 4..<11, of: 1)
    return (made, seal, sidecar)
  }

  enum Forgery: CaseIterable {
    case behindTheSeal, inPlaceOfTheSeal, ofAnotherGeneration, anotherSeal, nothing
  }

  private func forge(
    _ forgery: Forgery, _ made: StoredGenerations, _ seal: RevisionName, _ sidecar: Sidecar
  ) throws {
    var forged = sidecar
    (forged.status, forged.endedAt, forged.objects, forged.digest) = (.active, nil, nil, nil)
    func removeSeal() { made.store[made.folder.key + seal.fileName] = nil }
    switch forgery {
    case .behindTheSeal: break
    case .inPlaceOfTheSeal: removeSeal()
    case .ofAnotherGeneration: forged.generation = 2
    case .anotherSeal:
      forged = sidecar
      forged.consent = .metadata
      (forged.objects, forged.digest) = (nil, nil)
    case .nothing: return removeSeal()
    }
    _ = try put(forged, forgery == .inPlaceOfTheSeal ? 1 : 3, made, signed: false)
  }

  @Test(arguments: Forgery.allCases)
  func `no reader delivers bytes that a forged revision describes`(forgery: Forgery) async throws {
    let (made, seal, sidecar) = try await made()
    let keys = keys
    let before = try await RemoteReader(made.store, knowing: keys).accept(made.remote()).session()
    try forge(forgery, made, seal, sidecar)
    let remote = try await made.remote()
    let reader = RemoteReader(made.store, knowing: keys)
    var given: [UInt8] = []
    func refuses(_ read: () async throws -> Void) async {
      let error = await #expect(throws: ReplicaError.self) { try await read() }
      #expect(error?.detail.contains("verify --repair \(made.session)") == true)
    }
    await refuses { _ = try await reader.accept(remote) }
    await refuses { try await reader.read(remote, upTo: remote.end) { given += $0 } }
    await refuses { try await reader.read(remote, from: 4, upTo: 11) { given += $0 } }
    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: keys)
    await refuses { try await parts.read([4..<7]) { given += $1 } }
    await refuses { try await parts.read(try await parts.last(lines: 1)) { given += $1 } }
    #expect(given.isEmpty)
    // Salvage reads everything, and reports doubts.
    var doubts = 0
    try await reader.salvage(remote) { part in
      if case .damage(let damage) = part, !damage.isLost, damage.range.lowerBound == 0 {
        doubts += 1
      }
    }
    #expect(doubts > 0 || remote.end == 0)
    // If it was accepted before, later listings do not change it.
    #expect(before.listedAgain(as: remote).segments == before.segments)
  }

  @Test func `an open session is read once its revision is signed, or older than the key`()
    async throws
  {
    for isSigned in [true, false] {
      var made = try StoredGenerations()
      try made.grow(Array("one\n".utf8))
      var sidecar = Sidecar(
        id: made.session, device: home.device, appName: "test", recorder: nil,
        startedAt: made.session.startedAt)
      sidecar.deviceId = "device"
      _ = try put(sidecar, 1, made, signed: isSigned)
      let later = try #require(Timestamp(iso: "2026-01-23T00:00:00.000Z"))
      let key =
        try isSigned
        ? key
        : DeviceKey(
          deviceId: "device", created: later, seed: Array(repeating: 7, count: 32))
      let keys = KnownKeys(home.home, named: [:], own: key)
      let reader = RemoteReader(made.store, knowing: keys)
      let remote = try await made.remote()
      let accepted = try await reader.accept(remote).session()
      _ = made.store.takeTraffic()
      var read: [UInt8] = []
      try await reader.read(accepted, upTo: accepted.end) { read += $0 }
      #expect(read == made.stream)
      // The revision was fetched before.
      #expect(made.store.takeTraffic().gets == 1)
      #expect(!reader.mustAccept(accepted.listedAgain(as: remote)))
      _ = try put(sidecar, 2, made, signed: false)
      #expect(reader.mustAccept(accepted.listedAgain(as: try await made.remote())))
    }
  }
}
