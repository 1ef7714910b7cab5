import Crypto
import Delta
import Foundation
import Platform
import Replica
import SessionLog

/// A store in a folder with content that may harm its readers: false names, sizes, sidecars,
/// indexes and frames.
///
/// Beside it is a file that no reader may touch, to which links lead. One session is sound.
package struct HostileStore {
  /// The folder of all of the device's objects.
  package let folder: String
  /// The device.
  package static let device = "hostiledevice"
  /// The session that every reader can read, and its log.
  package static let sound = "20260122t143005z-soundone"
  package static let log = Array("2026-01-22T14:30:05.123Z [INFO] [stdout] all is well\n".utf8)
  /// The ids of the other sessions, each with one kind of harm.
  package private(set) var sessions: [String] = []

  private static let day = "2026-01-22"

  /// Writes the store.
  ///
  /// - Parameters:
  ///   - path: the store's folder, which is created.
  ///   - outside: a file beside the store that links lead to.
  package init(at path: String, outside: String) throws {
    folder = "\(path)/devices/\(Self.device)/\(Self.day)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try write(FormatMarker.content, "\(path)/\(FormatMarker.key)")
    try write(
      Array(#"{"deviceId":"\#(Self.device)","deviceName":"\#(Self.text)"}"#.utf8), "../device.json")
    try addSound()
    try addNames(outside)
    for (number, sidecar) in try Self.sidecars().enumerated() {
      try addSidecar(sidecar, session("sc\(number)"))
    }
    for (number, segment) in try Self.segments().enumerated() {
      let id = session("sg\(number)")
      try addSegment(segment, id, generation: 1)
      try addSidecar(try Self.sidecar(id), id)
    }
    for (number, delta) in try Self.deltas().enumerated() {
      let id = session("dl\(number)")
      try addSegment(Segment(Self.frame(Self.log), length: Self.log.count), id, generation: 1)
      try addSegment(delta, id, generation: 2)
      try addSidecar(try Self.sidecar(id) { $0["generation"] = 2 }, id, generation: 2)
    }
    try addDevices(path)
  }

  // MARK: Parts

  /// An object that claims to be a segment.
  struct Segment {
    var bytes: [UInt8]
    var length: Int
    var hash: String?
    var stored: Int?

    init(_ bytes: [UInt8], length: Int) { (self.bytes, self.length) = (bytes, length) }
  }

  /// Text that is harmful on a terminal or in a file's name, as JSON.
  private static let text =
    #"\u001b]52;c;b3duZWQ=\u0007\u009b2J\u202e\u2028\n../../../outside\u0000"#

  private mutating func session(_ suffix: String) -> String {
    let id = "20260122t143005z-" + suffix + String(repeating: "0", count: 8 - suffix.count)
    sessions.append(id)
    return id
  }

  private func write(_ bytes: [UInt8], _ name: String) throws {
    let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
    try Data(bytes).write(to: URL(filePath: path))
  }

  private static func hash(_ bytes: [UInt8]) -> String {
    String(Hex.text(SHA256.hash(data: bytes)).prefix(16))
  }

  private static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }

  private func addSegment(_ segment: Segment, _ id: String, generation: Int) throws {
    let kind = generation == 1 ? "log" : "delta"
    let hash = segment.hash ?? Self.hash(segment.bytes)
    let stored = segment.stored ?? segment.bytes.count
    try write(
      segment.bytes,
      "\(id).g\(generation).\(Self.padded(0))-\(Self.padded(segment.length)).\(hash).\(stored).\(kind).zst"
    )
  }

  private func addSidecar(
    _ json: [UInt8], _ id: String, number: Int = 1, status: String = "active", generation: Int = 1,
    length: Int = 0
  ) throws {
    let named = generation == 1 ? "" : "g\(generation)."
    let number = String(repeating: "0", count: 4 - String(number).count) + String(number)
    try write(
      json,
      "\(id).s\(number).\(status).\(named)\(Self.padded(length)).\(Self.hash(json)).\(json.count).json"
    )
  }

  /// A sidecar with changes.
  private static func sidecar(
    _ id: String, _ change: (inout [String: Any]) -> Void = { _ in }
  ) throws -> [UInt8] {
    var fields: [String: Any] = [
      "sessionId": id, "fileName": "\(id).log", "format": "lines", "userId": "u", "appName": "a",
      "deviceId": device, "deviceName": "d", "osVersion": "o", "status": "ACTIVE",
      "startedAt": "2026-01-22T14:30:05.000Z", "lastUpdatedAt": "2026-01-22T14:30:05.000Z",
      "fileSizeBytes": 0, "scenarios": [String](), "categories": [String](),
      "levels": [String: Int](),
    ]
    change(&fields)
    return Array(try JSONSerialization.data(withJSONObject: fields))
  }

  private func addSound() throws {
    let object = Self.frame(Self.log)
    var segment = Segment(object, length: Self.log.count)
    segment.hash = Self.hash(Self.log)
    try addSegment(segment, Self.sound, generation: 1)
    let name =
      "\(Self.sound).g1.\(Self.padded(0))-\(Self.padded(Self.log.count)).\(Self.hash(Self.log))."
      + "\(object.count).log.zst"
    let seal = try Self.sidecar(Self.sound) {
      $0["status"] = "TERMINATED"
      $0["fileSizeBytes"] = Self.log.count
      $0["digest"] = Hex.text(SHA256.hash(data: Self.log))
      $0["objects"] = [name]
    }
    try addSidecar(seal, Self.sound, status: "terminated", length: Self.log.count)
  }

  // MARK: Harm

  /// Invalid names, names with false sizes, and entries that are not files.
  private mutating func addNames(_ outside: String) throws {
    let id = session("names")
    let hash = "0123456789abcdef"
    let names = [
      "\(id).g1.000000000000-999999999999.\(hash).5.log.zst",
      "\(id).g999999.000000000000-999999999999.\(hash).5.log.zst",
      "\(id).g1.000000000009-000000000001.\(hash).5.log.zst",
      "\(id).g1.000000000000-000000000009.\(hash).999999999999999999.log.zst",
      "\(id).g99999999999999999999.0-1.\(hash).5.log.zst",
      "\(id).s9999.crashed.999999999999.\(hash).5.json",
      "\(id).s999999.terminated.g999999.999999999999.\(hash).5.json",
      "\(id).keep.99991231.json", "\(id).keep.00000000.json",
      "\(id).\u{1b}[2J.json", "\(id).\n.log.zst", "-rf", "$(touch outside).json", "..\\..\\outside",
      String(repeating: "n", count: 250), "\u{202e}\(id).json",
    ]
    for name in names { try write(Array("12345".utf8), name) }
    for name in ["\(id).s0007.active.000000000000.\(hash).5.json", "\(id).g1.folder.log.zst"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    let linked = session("linked")
    let length = try FileManager.default.attributesOfItem(atPath: outside)[.size] as? Int ?? 0
    for name in [
      "\(linked).g1.000000000000-000000000009.\(hash).\(length).log.zst",
      "\(linked).s0001.active.000000000000.\(hash).\(length).json",
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(name)", withDestinationPath: outside)
    }
    let pipe = session("pipe")
    mkfifo("\(folder)/\(pipe).s0001.active.000000000000.\(hash).0.json", 0o600)
    mkfifo("\(folder)/\(pipe).g1.000000000000-000000000009.\(hash).0.log.zst", 0o600)
    let sparse = session("sparse")
    for name in [
      "\(sparse).s0001.active.000000000000.\(hash).8000000000.json",
      "\(sparse).g1.000000000000-000000000009.\(hash).8000000000.log.zst",
    ] {
      try write([], name)
      truncate("\(folder)/\(name)", 8_000_000_000)
    }
  }

  /// Harmful sidecars with correct names.
  private static func sidecars() throws -> [[UInt8]] {
    func named(_ number: Int, _ change: (inout [String: Any]) -> Void) throws -> [UInt8] {
      let suffix = "sc\(number)"
      return try sidecar(
        "20260122t143005z-" + suffix + String(repeating: "0", count: 8 - suffix.count), change)
    }
    let harm = String(
      decoding: try JSONDecoder().decode([String].self, from: Data("[\"\(text)\"]".utf8))[0].utf8,
      as: UTF8.self)
    var changes: [(inout [String: Any]) -> Void] = [
      { $0["deviceId"] = "../../../outside" }, { $0["sessionId"] = "../../outside" },
      { $0["sessionId"] = "20260122t143005z-aaaaaaaa" },
      { $0["fileSizeBytes"] = -1 }, { $0["fileSizeBytes"] = 9.3e18 },
      { $0["startedAt"] = "9999-12-31T23:59:59.999Z" }, { $0["generation"] = 999_999 },
      { $0["clockOffset"] = -9.2e18 }, { $0["continues"] = "../x" },
      { $0["levels"] = ["FAULT": 9.2e18] },
      { $0["categories"] = Array(repeating: harm, count: 5000) },
      { $0["objects"] = (0..<9000).map { "\($0)" } },
    ]
    for field in ["appName", "deviceName", "userId", "fileName", "osVersion", "deviceModel"] {
      changes.append { $0[field] = harm }
    }
    var all = try changes.enumerated().map { try named($0, $1) }
    all.append(Array("[".utf8) + Array(repeating: UInt8(ascii: "["), count: 500_000))
    all.append(Array(repeating: 0, count: 1 << 20))
    all.append(Array("{\"sessionId\":".utf8))
    return all
  }

  private static func frame(_ bytes: [UInt8], times: Int = 1) -> [UInt8] {
    guard let encoder = try? SegmentEncoder() else { return [] }
    for _ in 0..<times {
      try? bytes.withUnsafeBytes {
        try encoder.append(
          $0, lines: 1, times: nil, levels: Array(repeating: 0, count: FrameSummary.levelCount))
      }
    }
    return encoder.finish(link: .start)
  }

  /// Harmful segments with correct sizes.
  private static func segments() throws -> [Segment] {
    let zeros = [UInt8](repeating: 0, count: SegmentEncoder.frameLength)
    let sound = frame(log)
    // Two gigabytes in some hundred kilobytes, and a claim of three hundred.
    var all = [Segment(frame(zeros, times: 1000), length: 1000 * zeros.count)]
    all.append(Segment(all[0].bytes, length: 300_000_000_000))
    var cut = Segment(Array(sound.dropLast(9)), length: log.count)
    cut.hash = hash(log)
    all.append(cut)
    all.append(Segment(sound, length: log.count))
    all.append(Segment([], length: 1))
    all.append(Segment(Array(repeating: 0xff, count: 8 << 20), length: 5))
    func lying(_ summary: FrameSummary, count: Int) -> Segment {
      let index = SegmentIndex(frames: Array(repeating: summary, count: count), link: .start)
      return Segment(
        Array(sound.prefix(40)) + index.encoded(), length: count * max(1, summary.rawLength))
    }
    let levels = Array(repeating: 0, count: FrameSummary.levelCount)
    for (stored, raw) in [(1, 1), (1, 2 << 20), (2 << 20, 1), (0, 0), (1 << 40, 1 << 40)] {
      all.append(
        lying(
          FrameSummary(
            storedLength: stored, rawLength: raw, lines: .max >> 2, times: -(1 << 61)...(1 << 61),
            levels: levels), count: 30_000))
    }
    return all
  }

  /// Deltas that copy from nowhere, from everywhere, and from themselves.
  private static func deltas() throws -> [Segment] {
    func delta(_ body: (inout DeltaInstructions) -> Void) -> Segment {
      var instructions = DeltaInstructions()
      body(&instructions)
      let index = SegmentIndex(frames: [], link: .start, delta: instructions)
      return Segment(index.encoded(), length: Int(clamping: instructions.length))
    }
    return [
      delta { $0.append(.copy(StreamRange(generation: 1, 0..<10))) },
      delta { $0.append(.copy(StreamRange(generation: 2, 0..<10))) },
      delta { $0.append(.copy(StreamRange(generation: 999_999, 0..<10))) },
      delta { $0.append(.copy(StreamRange(generation: 1, 0..<999_999_999_999))) },
      delta { instructions in
        for number in 0..<30_000 {
          let start = StreamOffset(number % 2 * 40)
          instructions.append(.copy(StreamRange(generation: 1, start..<start + 1)))
        }
      },
    ]
  }

  /// Other devices, and entries that only look like one.
  private func addDevices(_ path: String) throws {
    for (name, record) in [
      ("other", "{\"deviceId\":\"hostiledevice\"}"), ("garbage", "\0\0"), ("UPPER", "{}"),
      ("empty", ""), ("deep", String(repeating: "[", count: 60_000)),
    ] {
      try FileManager.default.createDirectory(
        atPath: "\(path)/devices/\(name)/\(Self.day)", withIntermediateDirectories: true)
      try Data(record.utf8).write(to: URL(filePath: "\(path)/devices/\(name)/device.json"))
    }
    try Data().write(to: URL(filePath: "\(path)/devices/empty/file"))
    for day in ["2026-13-99", "9999-12-31", "..x", "2026-01-22 "] {
      try FileManager.default.createDirectory(
        atPath: "\(path)/devices/\(Self.device)/\(day)", withIntermediateDirectories: true)
    }
  }
}
