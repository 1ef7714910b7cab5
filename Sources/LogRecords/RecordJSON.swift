import Foundation
import Platform

/// Writes records as JSON objects, one per line.
///
/// A record's lines become one object. A message that is not UTF-8 is included twice: as text with
/// U+FFFD for invalid bytes, and exactly, as base64. Records longer than ``limit`` continue in
/// further objects, with `continues`.
public struct RecordJSON: Sendable {
  /// Maximum message bytes of one object.
  static let limit = 1 << 20

  private let prefix: [UInt8]
  private let format: LogFormat
  private var head: [UInt8] = []
  private var offset: Int64 = 0
  private var message: [UInt8] = []
  private var isOpen = false
  private var continues = false
  private var isJoined = false

  /// Starts at the beginning of a line.
  ///
  /// - Parameters:
  ///   - session: the session's id.
  ///   - device: the name of its device.
  ///   - app: the program's name.
  ///   - format: the format of the log.
  ///   - generation: the generation of the stream, if it is not the newest; nil to omit it.
  ///   - clockOffset: the offset of its clock, for readers; nil to omit it.
  public init(
    session: String, device: String, app: String, format: LogFormat, generation: Int? = nil,
    clockOffset: Duration? = nil
  ) {
    self.format = format
    var prefix = Array("{".utf8)
    for (name, value) in [("session", session), ("device", device), ("app", app)] {
      Self.append(name, value, to: &prefix)
    }
    if let generation { Self.append("generation", number: Int64(generation), to: &prefix) }
    if let clockOffset { Self.append("clockOffset", number: clockOffset.milliseconds, to: &prefix) }
    self.prefix = prefix
  }

  /// Adds the next line.
  ///
  /// - Parameter body: called with each complete object, newline included.
  public mutating func add(
    _ line: RecordLine, _ body: ([UInt8]) throws -> Void
  ) rethrows {
    if line.head != nil || !isOpen || message.count + line.bytes.count > Self.limit {
      try finish(body)
      continues = line.head == nil && !head.isEmpty
      offset = line.offset
      isOpen = true
    }
    guard let found = line.head else {
      message.append(contentsOf: line.bytes)
      return
    }
    describe(found, line.bytes)
    // In logs of other programs the other fields have no fixed place, so keep the whole line.
    message.append(
      contentsOf: format == .lines ? line.bytes[found.message.lowerBound...] : line.bytes[...])
  }

  /// Adds the next line as a separate object.
  ///
  /// - Parameter isWanted: whether to return the object; otherwise the line only provides context
  ///   for the following ones.
  /// - Returns: the object, newline included.
  public mutating func object(of line: RecordLine, isWanted: Bool) -> [UInt8]? {
    message.removeAll(keepingCapacity: message.count < 65_536)
    isOpen = false
    guard isWanted else {
      if let head = line.head { describe(head, line.bytes) }
      return nil
    }
    var object: [UInt8]?
    // No object is open, so this line alone makes one.
    add(line) { _ in }
    finish { object = $0 }
    return object
  }

  /// Writes the open object.
  public mutating func finish(_ body: ([UInt8]) throws -> Void) rethrows {
    guard isOpen else { return }
    var object = prefix + head
    Self.append("offset", number: offset, to: &object)
    if continues { Self.append("continues", bare: "true", to: &object) }
    let endsLine = message.last == 0x0a
    if endsLine { message.removeLast() }
    if !endsLine || isJoined { Self.append("newline", bare: "false", to: &object) }
    appendMessage(to: &object)
    object += Array("}\n".utf8)
    isOpen = false
    message.removeAll(keepingCapacity: message.count < 65_536)
    try body(object)
  }

  private mutating func describe(_ found: RecordHead, _ line: UnsafeRawBufferPointer) {
    head.removeAll(keepingCapacity: true)
    if let time = found.time { Self.append("time", time.description, to: &head) }
    Self.append("level", found.level.name, to: &head)
    func field(_ name: String, _ range: Range<Int>) {
      guard !range.isEmpty else { return }
      Self.append(name, String(decoding: line[range], as: UTF8.self), to: &head)
    }
    field("category", found.category)
    if let stream = found.stream(in: line) { Self.append("stream", stream.name, to: &head) }
    field("scenario", found.scenario)
    isJoined = format == .lines && found.isContinued(in: line)
  }

  private func appendMessage(to object: inout [UInt8]) {
    if let text = String(validating: message, as: UTF8.self) {
      Self.append("message", text, to: &object)
    } else {
      Self.append("message", String(decoding: message, as: UTF8.self), to: &object)
      Self.append("messageBase64", Data(message).base64EncodedString(), to: &object)
    }
  }

  // MARK: JSON

  private static func append(_ name: String, _ value: String, to out: inout [UInt8]) {
    appendName(name, to: &out)
    out.append(0x22)
    for byte in value.utf8 {
      switch byte {
      case 0x22, 0x5c: out += [0x5c, byte]
      case 0x0a: out += [0x5c, 0x6e]
      case 0x09: out += [0x5c, 0x74]
      case 0x0d: out += [0x5c, 0x72]
      case 0..<0x20, 0x7f:
        out += Array("\\u00".utf8) + [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      default: out.append(byte)
      }
    }
    out.append(0x22)
  }

  private static func append(_ name: String, number: Int64, to out: inout [UInt8]) {
    append(name, bare: String(number), to: &out)
  }

  private static func append(_ name: String, bare value: String, to out: inout [UInt8]) {
    appendName(name, to: &out)
    out += value.utf8
  }

  private static func appendName(_ name: String, to out: inout [UInt8]) {
    // The first field is not preceded by a comma.
    if out.last != 0x7b { out.append(0x2c) }
    out.append(0x22)
    out += name.utf8
    out += [0x22, 0x3a]
  }

  private static let hex = Array("0123456789abcdef".utf8)
}
