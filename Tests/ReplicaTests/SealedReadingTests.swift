import Crypto
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

/// For a sealed session readers use the objects that its seal names, and ignore others.
@Suite(.tags(.medium)) struct SealedReadingTests {
  private let device: Device
  private let home: TestHome

  init() throws {
    home = try TestHome()
    device = home.device
  }

  private static func text(_ numbers: Range<Int>) -> [UInt8] {
    Array(numbers.map { "2026-01-22T14:30:05.123Z [INFO] [Net] line \($0)\n" }.joined().utf8)
  }

  /// Three segments, and in a second generation deltas that copy from them.
  private func made(generations: Int = 1) throws -> StoredGenerations {
    var made = try StoredGenerations()
    for number in 0..<3 { try made.grow(Self.text(number * 1000..<number * 1000 + 1000)) }
    if generations == 2 {
      let stream = Array(made.stream.dropFirst(20_000)) + Self.text(5000..<5010)
      try made.replace(with: stream, in: [stream])
    }
    return made
  }

  /// Adds a segment that extends further than the valid ones and holds other bytes.
  private func forge(_ made: StoredGenerations, of generation: Int) {
    let length = made.streams[generation - 1].count + 10
    let forged = Array(repeating: UInt8(ascii: "x"), count: length - 1) + [0x0a]
    made.put(forged, literals: forged, nil, at: 0..<StreamOffset(length), of: generation)
  }

  private func read(_ made: StoredGenerations) async throws -> [UInt8] {
    let remote = try await made.remote()
    var read: [UInt8] = []
    try await RemoteReader(made.store, knowing: nil).read(remote, upTo: remote.end) { read += $0 }
    return read
  }

  private func problem(of made: StoredGenerations) async throws -> ReplicaError? {
    await #expect(throws: ReplicaError.self) { try await read(made) }
  }

  @Test(arguments: [1, 2])
  func `segments that the seal does not name are not read`(generations: Int) async throws {
    let made = try made(generations: generations)
    try await made.seal(device: device)
    for generation in 1...generations { forge(made, of: generation) }
    #expect(try await read(made) == made.stream)

    let remote = try await made.remote()
    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    var last: [UInt8] = []
    try await parts.read(try await parts.last(lines: 3)) { last += $1 }
    #expect(last.count > 100 && made.stream.suffix(last.count) == last[...])

    var salvaged: [UInt8] = []
    try await RemoteReader(made.store, knowing: nil).salvage(remote) { part in
      if case .bytes(let bytes) = part { salvaged += bytes } else { Issue.record("\(part)") }
    }
    #expect(salvaged == made.stream)
  }

  @Test func `the seal is fetched once, and not at all if it is known`() async throws {
    let made = try made()
    try await made.seal(device: device)
    let remote = try await made.remote()
    _ = made.store.takeTraffic()
    try await RemoteReader(made.store, knowing: nil).read(remote, upTo: remote.end) { _ in }
    #expect(made.store.takeTraffic().gets == 4)
    let known = try await RemoteReader(made.store, knowing: nil).accept(remote).session()
    _ = made.store.takeTraffic()
    try await RemoteReader(made.store, knowing: nil).read(known, upTo: remote.end) { _ in }
    #expect(made.store.takeTraffic().gets == 3)
  }

  @Test func `a segment deleted while reading admits no unnamed one`() async throws {
    let made = try made()
    try await made.seal(device: device)
    let remote = try await made.remote()
    forge(made, of: 1)
    let second = remote.segments[1]
    made.store.beforeGet { [store = made.store, key = made.folder.key + second.fileName] asked in
      if asked == key { store[key] = nil }
    }
    let error = await #expect(throws: ReplicaError.self) {
      try await RemoteReader(made.store, knowing: nil).read(remote, upTo: remote.end) { _ in }
    }
    #expect(error?.code == .missingBytes)
  }

  @Test func `a wrong digest is an error once the whole log is read`() async throws {
    let made = try made()
    let seal = try await made.seal(device: device) { $0.digest = String(repeating: "0", count: 64) }
    #expect(try await problem(of: made)?.detail.contains(seal.fileName) == true)

    let remote = try await made.remote()
    // In adjacent pieces, as a cursor reads it.
    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    let middle = StreamOffset(remote.end.byteCount / 2)
    try await parts.read([0..<middle]) { _, _ in }
    await #expect(throws: ReplicaError.self) {
      try await parts.read([middle..<remote.end]) { _, _ in }
    }
    // A part has no digest.
    try await parts.read([middle..<remote.end]) { _, _ in }
    var damage: [StreamDamage] = []
    var salvaged: [UInt8] = []
    try await RemoteReader(made.store, knowing: nil).salvage(remote) { part in
      switch part {
      case .bytes(let bytes): salvaged += bytes
      case .damage(let found): damage.append(found)
      }
    }
    #expect(salvaged == made.stream && damage.map(\.range) == [0..<remote.end])
  }

  @Test func `a seal with an impossible object list is refused`() async throws {
    let made = try made()
    let names = try await made.names().map(\.fileName)
    var number = 900
    func says(_ change: (inout Sidecar) -> Void) async throws -> String {
      number += 1
      try await made.seal(device: device, number: number, change)
      return try await problem(of: made)?.detail ?? ""
    }
    #expect(try await says { $0.objects = [names[0], names[2]] }.contains("names no object for"))
    #expect(try await says { $0.objects = [names[0]] }.contains("names no object for"))
    #expect(try await says { $0.objects = nil }.contains("without naming its objects"))
    #expect(try await says { $0.digest = nil }.contains("without a digest"))
    #expect(try await says { $0.objects?.append("../x") }.contains("cannot be one"))
    let other = names[0].replacing("k3f9a7c2", with: "k3f9a7c3")
    #expect(try await says { $0.objects?.append(other) }.contains("cannot be one"))
    #expect(try await says { $0.basis = [names[0]] }.contains("cannot be one"))

    // If the log was sent only in part, there is nothing to compare.
    number += 1
    try await made.seal(device: device, number: number) {
      ($0.consent, $0.objects, $0.digest) = (.metadata, nil, nil)
    }
    #expect(try await read(made) == made.stream)
  }

  /// `verify` printed a newline and colours of such a name: lines that another session is whole.
  @Test(arguments: [
    "x\n20260122t143005z-victim01  ok  1.2 MB, whole", "x \u{1b}[32mok\u{1b}[0m \u{202e}",
    "x\u{9b}31m" + String(repeating: "\u{301}", count: 10_000),
    String(repeating: "y", count: 900_000),
  ])
  func `a name that a seal invents is shown in one escaped line, and cut`(
    _ name: String
  ) async throws {
    let made = try made()
    try await made.seal(device: device) { $0.objects?.append(name) }
    let detail = try await problem(of: made)?.detail ?? ""
    #expect(detail.contains("cannot be one of the stream: '\(name.first ?? " ")"))
    #expect(!detail.unicodeScalars.contains { $0.isInvisible })
    #expect(detail.unicodeScalars.count < 500)
  }

  /// Named segments come first; failing them, the others, in doubt.
  @Test func `salvage uses unnamed segments only where named ones are missing`() async throws {
    let made = try made()
    let names = try await made.names()
    try await made.seal(device: device)
    try made.cover(Array(names[0...1]))
    made.store[made.folder.key + names[1].fileName] = nil
    let remote = try await made.remote()
    var salvaged: [UInt8] = []
    var damage: [StreamDamage] = []
    try await RemoteReader(made.store, knowing: nil).salvage(remote) { part in
      switch part {
      case .bytes(let bytes): salvaged += bytes
      case .damage(let found): damage.append(found)
      }
    }
    #expect(salvaged == made.stream)
    #expect(damage.count == 1 && damage[0].reason.contains("does not name") && !damage[0].isLost)
    #expect(try await problem(of: made)?.code == .missingBytes)
  }
}
