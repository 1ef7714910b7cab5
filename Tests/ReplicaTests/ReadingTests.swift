import Crypto
import Delta
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

/// Reading whole streams from any valid mixture of segments, and from invalid ones.
@Suite(.tags(.small)) struct ReadingTests {
  /// The result of a reading.
  private struct Outcome {
    /// The stream, with zeros for lost bytes.
    var bytes: [UInt8] = []
    var damage: [StreamDamage] = []

    /// Whether bytes delivered without doubt are those of the stream.
    func isHonest(about stream: [UInt8]) -> Bool {
      var trusted = Array(repeating: true, count: stream.count)
      for stretch in damage {
        let range = stretch.range.clamped(to: 0..<StreamOffset(stream.count))
        for index in range.indices { trusted[index] = false }
      }
      return bytes.count == stream.count
        && stream.indices.allSatisfy { !trusted[$0] || bytes[$0] == stream[$0] }
    }
  }

  private func salvage(_ made: StoredGenerations, _ remote: RemoteSession) async throws -> Outcome {
    var outcome = Outcome()
    let length = StreamOffset(made.stream.count)
    try await RemoteReader(made.store, knowing: nil).salvage(remote, upTo: length) { part in
      switch part {
      case .bytes(let bytes): outcome.bytes += bytes
      case .damage(let damage):
        outcome.damage.append(damage)
        guard damage.isLost else { return }
        #expect(damage.range.lowerBound == StreamOffset(outcome.bytes.count))
        outcome.bytes += Array(repeating: 0, count: damage.range.indices.count)
      }
    }
    return outcome
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `any valid mix of segments and deltas is read`(number: Int) async throws {
    var generator = SeededGenerator(case: number)
    let made = try await StoredGenerations.random(&generator)
    let remote = try await made.remote()
    #expect(
      remote.generation == made.streams.count && remote.mark == StreamOffset(made.stream.count))
    let reader = RemoteReader(made.store, knowing: nil)
    for (number, stream) in made.streams.enumerated() {
      let length = Int.random(in: 0...stream.count, using: &generator)
      let start = Int.random(in: 0...length, using: &generator)
      var read: [UInt8] = []
      let digest = try await reader.read(
        remote, generation: number + 1, from: StreamOffset(start),
        after: Array(stream[..<start].suffix(Link.span)), upTo: StreamOffset(length)
      ) { read += $0 }
      #expect(read == Array(stream[start..<length]))
      #expect(digest == Hex.text(SHA256.hash(data: read)))
    }
    let outcome = try await salvage(made, remote)
    #expect(outcome.bytes == made.stream && outcome.damage.isEmpty)
  }

  /// Damages objects at random: reading gives an error or a report, never silently wrong bytes.
  @Test(arguments: SeededGenerator.cases(400))
  func `damage is always reported and never gives wrong bytes`(number: Int) async throws {
    var generator = SeededGenerator(case: number)
    let made = try await StoredGenerations.random(&generator)
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      guard let name = try await made.names().randomElement(using: &generator) else { continue }
      let key = made.folder.key + name.fileName
      guard var object = made.store[key] else { continue }
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: made.store[key] = nil
      case 1: object.removeLast(Int.random(in: 1...object.count, using: &generator))
      case 2: object = EditScript.random(object.count, &generator)
      case 3: object[object.count - 8] = 9
      default:
        let place = Int.random(in: 0..<object.count, using: &generator)
        object[place] ^= UInt8.random(in: 1...255, using: &generator)
      }
      if made.store[key] != nil { made.store[key] = object }
    }
    let remote = try await made.remote()
    var read: [UInt8] = []
    do {
      try await RemoteReader(made.store, knowing: nil).read(
        remote, upTo: StreamOffset(made.stream.count)
      ) {
        read += $0
      }
      #expect(read == made.stream)
    } catch let error as ReplicaError {
      #expect(error.detail.contains("\(made.session)"), "\(error)")
    }
    let outcome = try await salvage(made, remote)
    #expect(outcome.isHonest(about: made.stream), "\(outcome.damage)")
    #expect(!outcome.damage.isEmpty || outcome.bytes == made.stream)
  }

  @Test func `an object deleted while reading costs one listing`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 1, seed: 1)
    for _ in 0..<6 { try made.grow(EditScript.random(50_000, &generator)) }
    var edited = made.stream
    edited.insert(contentsOf: [1, 2, 3], at: 120_000)
    try made.replace(with: edited, in: [edited])
    for _ in 0..<3 { try made.grow(EditScript.random(50_000, &generator)) }
    let before = try await made.remote()
    // Segments that are copied from, and some of the stream's own, are replaced before they are
    // read.
    let basis = before.cover(upTo: .max, of: 1)
    let own = before.cover(upTo: .max).filter { $0.kind == .plain }
    let victims = [(basis[3], Array(basis[2...4])), (own[1], own)]
    for (victim, covered) in victims {
      let before = try await made.remote()
      var read: [UInt8] = []
      let key = made.folder.key + victim.fileName
      let known = Set(made.store.keys)
      try made.cover(covered)
      let added = made.store.keys.filter { !known.contains($0) }.map { ($0, made.store[$0]) }
      for (key, _) in added { made.store[key] = nil }
      let (store, gone) = (made.store, covered.map { made.folder.key + $0.fileName })
      made.store.beforeGet { asked in
        guard asked == key else { return }
        for (key, object) in added { store[key] = object }
        for key in gone { store[key] = nil }
      }
      _ = made.store.takeTraffic()
      try await RemoteReader(made.store, knowing: nil).read(before, upTo: before.mark) {
        read += $0
      }
      #expect(read == made.stream)
      #expect(made.store[key] == nil)
      #expect(made.store.takeTraffic().lists == 1)
    }
    made.store.beforeGet(nil)
    // A permanently missing object is an error, not an endless search.
    for name in try await made.names() where name.generation == 1 {
      made.store[made.folder.key + name.fileName] = nil
    }
    _ = made.store.takeTraffic()
    let gone = await #expect(throws: ReplicaError.self) {
      try await RemoteReader(made.store, knowing: nil).read(before, upTo: before.mark) { _ in }
    }
    #expect(gone?.code == .missingBytes)
    #expect(made.store.takeTraffic().lists <= 1)
  }

  @Test func `a delta that copies from a delta or a gap is refused`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 2)
    let first = EditScript.random(100_000, &generator)
    try made.grow(first)
    let second = Array(first[20_000...])
    try made.replace(with: second, in: [second])
    try made.replace(with: second, in: [second])
    let remote = try await made.remote()
    let lawful = try #require(remote.segment(at: 0))
    made.store[made.folder.key + lawful.fileName] = nil
    let length = StreamOffset(second.count)

    func refusal(_ copy: StreamRange) async throws -> ReplicaError? {
      var delta = DeltaInstructions()
      delta.append(.copy(copy))
      let name = made.put(second, literals: [], delta, at: 0..<length, of: 3)
      defer { made.store[made.folder.key + name.fileName] = nil }
      let remote = try await made.remote()
      let error = await #expect(throws: ReplicaError.self) {
        try await RemoteReader(made.store, knowing: nil).read(remote, upTo: length) { _ in }
      }
      let outcome = try await salvage(made, remote)
      #expect(outcome.isHonest(about: second) && !outcome.damage.isEmpty)
      return error
    }
    let twice = try await refusal(StreamRange(generation: 2, 0..<length))
    #expect(twice?.code == .damagedObject && twice?.detail.contains("copies themselves") == true)
    let nowhere = try await refusal(StreamRange(generation: 1, 50_000..<50_000 + length.byteCount))
    #expect(nowhere?.code == .missingBytes)
    #expect(nowhere?.detail.contains("bytes 100000 to 130000 of generation 1") == true)
    let forward = try await refusal(StreamRange(generation: 3, 0..<length))
    #expect(forward?.code == .damagedObject)
    // Only the hash detects bytes other than the intended ones.
    let other = try await refusal(StreamRange(generation: 1, 0..<length))
    #expect(other?.detail.contains("other bytes than its name says") == true)
  }

  @Test func `a revision that contradicts its name is refused`() async throws {
    let made = try StoredGenerations()
    let device = try TestHome().device
    var sidecar = Sidecar(
      id: made.session, device: device, appName: "test", recorder: nil,
      startedAt: made.session.startedAt)
    sidecar.deviceId = made.folder.device
    sidecar.generation = 2
    try made.put(sidecar, generation: 2)
    let whole = try #require(try await made.remote().revision)
    #expect(
      try await RemoteReader(made.store, knowing: nil).read(whole, in: made.folder) == sidecar)
    var (other, climbing, foreign) = (sidecar, sidecar, sidecar)
    other.generation = nil
    climbing.deviceId = "../.."
    foreign.sessionId = try #require(SessionID("20260122t143005z-k3f9a7c3"))
    (climbing.generation, foreign.generation) = (4, 5)
    for (number, wrong) in [other, climbing, foreign].enumerated() {
      try made.put(wrong, generation: 3 + number)
      let revision = try #require(try await made.remote().revision)
      let error = await #expect(throws: ReplicaError.self) {
        try await RemoteReader(made.store, knowing: nil).read(revision, in: made.folder)
      }
      #expect(error?.code == .damagedObject)
      #expect(error?.detail.contains(revision.fileName) == true)
    }
  }

  /// Single bytes from two frames in turn: 64 GiB would be decompressed for 32 KiB.
  @Test func `a delta that takes too long to read is refused`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 5)
    try made.grow(EditScript.random(5 << 20, &generator))
    let basis = made.stream
    var (delta, stream) = (DeltaInstructions(), [UInt8]())
    for number in 0..<16_384 {
      for place in [number * 2, (3 << 20) + number * 2] {
        delta.append(
          .copy(StreamRange(generation: 1, StreamOffset(place)..<StreamOffset(place + 1))))
        stream.append(basis[place])
      }
    }
    try made.replace(with: Array("x\n".utf8), in: [Array("x\n".utf8)])
    let name = made.put(
      stream, literals: [], delta, at: 0..<StreamOffset(stream.count), of: 2)
    let error = await #expect(throws: ReplicaError.self) {
      try await RemoteReader(made.store, knowing: nil).read(name, in: made.folder) { _ in }
    }
    #expect(error?.code == .damagedObject && error?.detail.contains("takes too long") == true)
  }

  @Test func `adjacent losses with one cause are reported once`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 6)
    try made.grow(EditScript.random(7 << 20, &generator))
    let name = try #require(try await made.names().first)
    let key = made.folder.key + name.fileName
    var object = try #require(made.store[key])
    for place in [1 << 20, 3 << 20, 5 << 20] { object[place] ^= 1 }
    made.store[key] = object
    var damage: [StreamDamage] = []
    try await RemoteReader(made.store, knowing: nil).salvage(try await made.remote()) { part in
      if case .damage(let found) = part, found.isLost { damage.append(found) }
    }
    #expect(damage.count == 1 && damage.first?.range.byteCount == 6 << 20, "\(damage)")
  }

  /// A delta that copies little of large objects does not fetch them whole.
  @Test func `a copy fetches only the frames that it needs`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 3)
    let first = EditScript.random(7 << 20, &generator)
    try made.grow(first)
    let part = Array(first[5_000_000..<5_100_000])
    try made.replace(with: part, in: [part])
    let remote = try await made.remote()
    _ = made.store.takeTraffic()
    var read: [UInt8] = []
    try await RemoteReader(made.store, knowing: nil).read(remote, upTo: remote.mark) { read += $0 }
    #expect(read == part)
    let traffic = made.store.takeTraffic()
    #expect(traffic.gets == 3 && traffic.bytes < 5 << 20, "\(traffic)")
  }
}
