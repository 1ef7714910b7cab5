import Delta
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

/// A part of a sealed session is verified by the hash of its index in the seal, and by the hashes of
/// frames in the index.
@Suite(.tags(.medium)) struct SealedPartsTests {
  private let device: Device
  private let home: TestHome

  init() throws {
    home = try TestHome()
    device = home.device
  }

  private static func text(_ numbers: Range<Int>) -> [UInt8] {
    Array(numbers.map { "2026-01-22T14:30:05.123Z [INFO] [Net] line \($0)\n" }.joined().utf8)
  }

  /// A segment of one frame, one of several and, in a second generation, deltas that copy from them.
  private func made(generations: Int) throws -> StoredGenerations {
    var made = try StoredGenerations()
    try made.grow(Self.text(0..<100))
    try made.grow(Self.text(100..<4000))
    if generations == 2 {
      let stream = Array(made.stream.dropFirst(2_000)) + Self.text(5000..<7000)
      try made.replace(with: stream, in: [stream])
    }
    return made
  }

  private func parts(of made: StoredGenerations) async throws -> RangedStreamReader {
    let remote = try await made.remote()
    return try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
  }

  /// Reads pieces of the stream, each by a reader of its own.
  ///
  /// - Returns: the number of pieces that were refused; the others are expected to be genuine.
  private func refusals(_ made: StoredGenerations) async throws -> Int {
    var refused = 0
    let (count, step) = (made.stream.count, max(1, made.stream.count / 7))
    var pieces = stride(from: 0, to: count, by: step).map { $0..<min(count, $0 + 100) }
    // Nearly everything: segments are read whole, but the stream is not.
    pieces.append(1..<count - 1)
    for piece in pieces {
      let (start, end) = (piece.lowerBound, piece.upperBound)
      let range = StreamOffset(start)..<StreamOffset(end)
      var read: [UInt8] = []
      do {
        try await parts(of: made).read([range]) { read += $1 }
      } catch let error as ReplicaError {
        #expect(error.code == .damagedObject)
        refused += 1
        continue
      }
      #expect(read == Array(made.stream[start..<end]))
    }
    return refused
  }

  /// What somebody with write access can do to an object without changing its name or size.
  enum Forgery: CaseIterable {
    /// Other frames, and an index that fits them.
    case everything
    /// Other frames below the genuine index, whose lengths they keep.
    case frames
    /// The genuine frames below an index that denies what they hold.
    case index
  }

  private func forge(_ name: SegmentName, _ forgery: Forgery, in made: StoredGenerations) throws {
    let key = made.folder.key + name.fileName
    let object = try #require(made.store[key])
    let (index, length) = try SegmentIndex.decode(endOf: object[...])
    var frames = Array(object.dropLast(length))
    var forged = index
    if forgery != .index {
      frames = []
      var position = 0
      for number in index.frames.indices {
        let frame = index.frames[number]
        let stored = object[position..<position + frame.storedLength]
        position += frame.storedLength
        let other = try Self.otherFrame(rawLength: frame.rawLength)
        if forgery == .frames {
          frames += try Self.padded(other, to: stored.count)
        } else {
          frames += other
          forged.frames[number] = FrameSummary(
            storedLength: other.count, rawLength: frame.rawLength, lines: frame.lines,
            times: frame.times, levels: frame.levels)
        }
      }
    } else {
      for number in forged.frames.indices {
        let records = index.frames[number].levels.reduce(0, +)
        forged.frames[number].levels = [0, 0, 0, 0, 0, 0, records]
      }
    }
    if forgery == .everything {
      let room = object.count - frames.count
      forged.padding = try #require(
        (0...room).first { padding in
          var tried = forged
          tried.padding = padding
          return tried.encoded().count == room
        })
    }
    let bytes = frames + (forgery == .frames ? Array(object.suffix(length)) : forged.encoded())
    try #require(bytes.count == object.count && bytes != object)
    made.store[key] = bytes
  }

  /// A frame of as many other bytes, in lines.
  private static func otherFrame(rawLength: Int) throws -> [UInt8] {
    let encoder = try SegmentEncoder()
    let log = [UInt8](repeating: UInt8(ascii: "x"), count: rawLength - 1) + [0x0a]
    try log.withUnsafeBytes {
      try encoder.append($0, lines: 1, times: nil, levels: [0, 0, 1, 0, 0, 0, 0])
    }
    return encoder.drain()
  }

  /// A frame followed by an empty one, which every decoder of zstd skips.
  private static func padded(_ frame: [UInt8], to length: Int) throws -> [UInt8] {
    let rest = length - frame.count
    try #require(rest >= 8)
    let size = UInt32(rest - 8)
    let head: [UInt8] = [0x50, 0x2a, 0x4d, 0x18] + (0..<4).map { UInt8(size >> (8 * $0) & 255) }
    return frame + head + [UInt8](repeating: 0, count: rest - 8)
  }

  @Test(arguments: Forgery.allCases, [1, 2])
  func `a forged object of the same size is refused in parts, too`(
    forgery: Forgery, generations: Int
  ) async throws {
    let genuine = try made(generations: generations)
    try await genuine.seal(device: device)
    #expect(try await refusals(genuine) == 0)
    // The first generation's second segment is large; of the deltas, all is wanted.
    let names = try await genuine.names().filter {
      generations == 1 ? true : $0.kind == .delta || $0.range.lowerBound > 0
    }
    try #require(names.count >= 2)
    for name in names {
      let made = try made(generations: generations)
      try await made.seal(device: device)
      try forge(name, forgery, in: made)
      #expect(try await refusals(made) > 1, "\(name)")
    }
  }

  @Test(arguments: Forgery.allCases)
  func `where the seal lacks an index, segments are read whole`(forgery: Forgery) async throws {
    let made = try made(generations: 2)
    try await made.seal(device: device) { $0.indexes = $0.indexes.map { $0.map { _ in nil } } }
    #expect(try await refusals(made) == 0)
    var last: [UInt8] = []
    let parts = try await parts(of: made)
    try await parts.read(try await parts.last(lines: 3)) { last += $1 }
    #expect(last.count > 100 && made.stream.suffix(last.count) == last[...])
    guard forgery != .index else { return }
    let name = try #require(
      await made.names().filter { $0.generation == 1 }.max { $0.length.bytes < $1.length.bytes })
    try forge(name, forgery, in: made)
    #expect(try await refusals(made) > 0)
  }

  /// As `grep -m` does, before a whole segment can be compared with its name.
  @Test func `a reader that stops early gets no forged byte`() async throws {
    struct Enough: Error {}
    let made = try made(generations: 1)
    try await made.seal(device: device)
    for name in try await made.names() { try forge(name, .frames, in: made) }
    let remote = try await made.remote()
    var read: [UInt8] = []
    await #expect(throws: ReplicaError.self) {
      try await RemoteReader(made.store, knowing: nil).read(remote, upTo: remote.end) { piece in
        read += piece
        throw Enough()
      }
    }
    #expect(read.isEmpty)
  }

  /// The same where frames have no hashes: in the middle of a segment, and then at its end.
  @Test(arguments: [true, false])
  func `a reader that stops early learns of forged bytes without an index`(
    isForged: Bool
  ) async throws {
    struct Enough: Error {}
    for isNull in [true, false] {
      let made = try made(generations: 2)
      try await made.seal(device: device) {
        $0.indexes = isNull ? $0.indexes.map { $0.map { _ in nil } } : nil
      }
      for name in try await made.names() where isForged && name.kind == .plain {
        try forge(name, .frames, in: made)
      }
      let remote = try await made.remote()
      let error = await #expect(throws: (any Error).self) {
        try await RemoteReader(made.store, knowing: nil).read(remote, upTo: remote.end) { _ in
          throw Enough()
        }
      }
      #expect(error is ReplicaError == isForged && error is Enough != isForged)
    }
  }

  @Test func `the seal of version 0 point 1 names no index, and is read as before`() async throws {
    let made = try made(generations: 1)
    try await made.seal(device: device) { $0.indexes = nil }
    _ = made.store.takeTraffic()
    #expect(try await refusals(made) == 0)
  }

  @Test func `a list of indexes that does not match the objects is refused`() async throws {
    let made = try made(generations: 1)
    try await made.seal(device: device) { _ = $0.indexes?.popLast() }
    let error = await #expect(throws: ReplicaError.self) { try await parts(of: made).span(nil) }
    #expect(error?.detail.contains("one index for each object") == true)
  }
}
