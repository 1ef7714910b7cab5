import Foundation
import Platform

/// Writes records as JSON objects, one a line.
///
/// A record's lines are one object. A message that is not UTF-8 stands there twice: as text with
/// U+FFFD for what is no character, and exactly, as base64. Of records longer than ``limit`` what
/// goes on is an object of its own, with `continues`.
public struct RecordJSON: Sendable {
  /// Bytes of a message after which it goes on in another object.
  static let limit = 1 << 20

  private let prefix: [UInt8]
  private let format: LogFormat
  private var head: [UInt8] = []
  private var offset: Int64 = 0
  private var message: [UInt8] = []
  private var isOpen = false
  private var continues = false
  private var isJoined = false

  /// Begins at the start of a line.
  ///
  /// - Parameters:
  ///   - session: the session's id.
  ///   - device: the name of the device that it ran on.
  ///   - app: the program's name.
  ///   - format: how to read the log.
  ///   - clockOffset: what its clock lacks, for readers; nil where it is not told.
  public init(
    session: String, device: String, app: String, format: LogFormat, clockOffset: Duration? = nil
  ) {
    self.format = format
    var prefix = Array("{".utf8)
    for (name, value) in [("session", session), ("device", device), ("app", app)] {
      Self.append(name, value, to: &prefix)
    }
    if let clockOffset { Self.append("clockOffset", number: clockOffset.milliseconds, to: &prefix) }
    self.prefix = prefix
  }

  /// Takes the next line.
  ///
  /// - Parameter body: gets an object that is complete, newline included.
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
    // Logs of other programs have no one place for what is not the message: it stays in.
    message.append(
      contentsOf: format == .lines ? line.bytes[found.message.lowerBound...] : line.bytes[...])
  }

  /// Takes the next line as an object of its own.
  ///
  /// - Parameter isWanted: whether the object is; else the line only tells of what goes on with it.
  /// - Returns: the object, newline included.
  public mutating func object(of line: RecordLine, isWanted: Bool) -> [UInt8]? {
    message.removeAll(keepingCapacity: message.count < 65_536)
    isOpen = false
    guard isWanted else {
      if let head = line.head { describe(head, line.bytes) }
      return nil
    }
    var object: [UInt8]?
    // Nothing is open, so this line alone makes the object.
    add(line) { _ in }
    finish { object = $0 }
    return object
  }

  /// Writes what is open.
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
    // What describes a record always follows something.
    if out.last != 0x7b { out.append(0x2c) }
    out.append(0x22)
    out += name.utf8
    out += [0x22, 0x3a]
  }

  private static let hex = Array("0123456789abcdef".utf8)
}
