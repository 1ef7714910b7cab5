import Crypto
import Delta
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

/// Generations of a stream under their names in a memory store.
struct StoredGenerations {
  static let session = SessionID("20260122t143005z-k3f9a7c2")
  let store = MemoryStore()
  let session: SessionID
  let folder: SessionFolder
  /// The stream of each generation, from the first on.
  private(set) var streams: [[UInt8]] = []
  private(set) var generations: Generations
  private var stored = 0

  init(maximumInstructions: Int = 500) throws {
    guard let session = Self.session else { throw SegmentError(.corrupt, "no session id") }
    self.session = session
    folder = SessionFolder(device: "device", session: session)
    generations = try Generations(maximumInstructions: maximumInstructions)
  }

  /// The newest stream.
  var stream: [UInt8] { streams.last ?? [] }

  mutating func grow(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    if streams.isEmpty { streams = [[]] }
    streams[streams.count - 1] += bytes
    try generations.grow(stream[(stream.count - bytes.count)...], of: stream)
    put()
  }

  mutating func replace(with stream: [UInt8], in pieces: [[UInt8]]) throws {
    try generations.replace(with: stream, in: pieces)
    streams.append(stream)
    put()
    announce(generations.newest)
  }

  /// Puts what has been written since the last call.
  private mutating func put() {
    for segment in generations.segments[stored...] {
      let isDelta = (try? SegmentIndex.decode(endOf: segment.object[...]).index.delta) != nil
      store[folder.key + name(segment, isDelta ? .delta : .plain).fileName] = segment.object
    }
    stored = generations.segments.count
  }

  /// Puts a sidecar revision that names a generation.
  func announce(_ generation: Int) { put(Array("{}".utf8), generation) }

  /// Puts a sidecar under the name of a generation.
  func put(_ sidecar: Sidecar, generation: Int) throws { put(try sidecar.json(), generation) }

  /// Puts the seal of the newest generation, like a writer.
  ///
  /// - Parameter change: changes the sidecar.
  @discardableResult
  func seal(
    device: Device, number: Int = 900, _ change: (inout Sidecar) -> Void = { _ in }
  ) async throws -> RevisionName {
    let remote = try await remote()
    let (generation, length) = (streams.count, StreamOffset(stream.count))
    var sidecar = Sidecar(
      id: session, device: device, appName: "test", recorder: nil, startedAt: session.startedAt)
    sidecar.deviceId = folder.device
    sidecar.status = .terminated
    sidecar.generation = generation == 1 ? nil : generation
    sidecar.digest = Hex.text(SHA256.hash(data: stream))
    let objects = remote.cover(upTo: length, of: generation)
    var basis: Set<SegmentName> = []
    for name in objects where name.kind == .delta {
      basis.formUnion(try await RemoteReader(store, knowing: nil).basis(of: name, in: remote))
    }
    let sortedBasis = basis.sorted { $0.fileName < $1.fileName }
    sidecar.objects = objects.map(\.fileName)
    sidecar.basis = sortedBasis.map(\.fileName)
    sidecar.indexes = try (objects + sortedBasis).map { name in
      try SegmentIndex.hash(endOf: (store[folder.key + name.fileName] ?? [])[...]).text
    }
    change(&sidecar)
    let json = try sidecar.json()
    let name = RevisionName(
      session: session, number: number, status: .terminated, generation: generation,
      length: length, json: json)
    store[folder.key + name.fileName] = json
    return name
  }

  private func put(_ json: [UInt8], _ generation: Int) {
    let name = RevisionName(
      session: session, number: generation, status: .active, generation: generation,
      length: 0, json: json)
    store[folder.key + name.fileName] = json
  }

  private func name(_ segment: Generations.Segment, _ kind: SegmentName.Kind) -> SegmentName {
    SegmentName(
      session: session, generation: segment.generation, range: Range(segment.range),
      hash: Self.hash16(segment.hash), stored: ByteCount(segment.object.count), kind: kind)
  }

  static func hash16(_ digest: some Sequence<UInt8>) -> String {
    String(Hex.text(digest).prefix(16))
  }

  func remote() async throws -> RemoteSession {
    try await FolderListing(folder, in: store)[session, in: folder]
  }

  /// All segments in the store.
  func names() async throws -> [SegmentName] { try await remote().segments }

  /// Puts a segment that covers others.
  ///
  /// - Parameter covered: adjacent segments of one generation; if they are deltas, so is it.
  func cover(_ covered: [SegmentName]) throws {
    guard let first = covered.first, let last = covered.last else { return }
    let range = first.range.lowerBound..<last.range.upperBound
    let stream = streams[first.generation - 1]
    let bytes = stream[Int(range.lowerBound)..<Int(range.upperBound)]
    var delta: DeltaInstructions?
    var literals = Array(bytes)
    if covered.contains(where: { $0.kind == .delta }) {
      (delta, literals) = (DeltaInstructions(), [])
      for name in covered {
        let object = store[folder.key + name.fileName] ?? []
        var reader = try SegmentReader(
          object, generation: name.generation, length: name.length.bytes, decoder: SegmentDecoder())
        var offset: Int64 = 0
        for instruction in reader.index.instructions.list {
          delta?.append(instruction)
          if case .literal(let count) = instruction {
            try reader.read(offset..<offset + count) { literals += $0 }
          }
          offset += instruction.length
        }
      }
    }
    put(bytes, literals: literals, delta, at: range, of: first.generation)
  }

  /// Puts a segment as specified.
  @discardableResult
  func put(
    _ bytes: some Collection<UInt8>, literals: [UInt8], _ delta: DeltaInstructions?,
    at range: Range<StreamOffset>, of generation: Int
  ) -> SegmentName {
    let link = Link(before: streams[generation - 1][..<Int(range.lowerBound)])
    let object = Self.object(literals, delta, link)
    let name = SegmentName(
      session: session, generation: generation, range: range,
      hash: Self.hash16(SHA256.hash(data: Array(bytes))), stored: ByteCount(object.count),
      kind: delta == nil ? .plain : .delta)
    store[folder.key + name.fileName] = object
    return name
  }

  private static func object(
    _ literals: [UInt8], _ delta: DeltaInstructions?, _ link: Link
  ) -> [UInt8] {
    guard let encoder = try? SegmentEncoder() else { return [] }
    var rest = literals[...]
    while !rest.isEmpty {
      // Like a writer, except for the size: a frame ends with a line if there is one.
      var frame = rest.prefix(30_000)
      if frame.count < rest.count, let newline = frame.lastIndex(of: 0x0a) {
        frame = frame[...newline]
      }
      rest = rest.dropFirst(frame.count)
      frame.withUnsafeBytes {
        var statistics = LogStatistics()
        statistics.add($0)
        statistics.finish()
        try? encoder.append(
          $0, lines: statistics.lines, times: statistics.milliseconds, levels: statistics.counts,
          scenarios: delta == nil && $0.last == 0x0a ? statistics.allScenarios : nil)
      }
    }
    return encoder.finish(link: link, delta: delta)
  }

  /// A stream of several generations, some of it covered, and some covered segments deleted.
  static func random(_ generator: inout SeededGenerator) async throws -> StoredGenerations {
    var made = try StoredGenerations(
      maximumInstructions: [3, 20, 500].randomElement(using: &generator) ?? 1)
    try made.grow([UInt8(ascii: "x")])
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        try made.grow(EditScript.stream(60_000, &generator))
      }
      if Bool.random(using: &generator) {
        var stream = EditScript.apply(4, to: made.stream, &generator)
        if stream.isEmpty { stream = [0x0a] }
        try made.replace(with: stream, in: EditScript.pieces(of: stream, &generator))
      }
    }
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      try await made.coverSome(&generator)
    }
    return made
  }

  func coverSome(_ generator: inout SeededGenerator) async throws {
    let remote = try await remote()
    let generation = Int.random(in: 1...streams.count, using: &generator)
    let cover = remote.cover(upTo: .max, of: generation)
    guard cover.count > 1 else { return }
    let from = Int.random(in: 0..<cover.count - 1, using: &generator)
    let covered = Array(cover[from...Int.random(in: from + 1..<cover.count, using: &generator)])
    try self.cover(covered)
    for name in covered where Bool.random(using: &generator) {
      store[folder.key + name.fileName] = nil
    }
  }
}
