public import Platform

/// A session's id, `20260122t143005z-k3f9a7c2`: UTC start and 8 random characters, in lower case.
///
/// A value of this type is safe as a file name and as part of a key.
public struct SessionID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The id.
  public let description: String

  /// Parses an id; nil for anything else, paths above all.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 25 else { return nil }
    for (index, byte) in bytes.enumerated() {
      let isDigit = (0x30...0x39).contains(byte)
      let isValid =
        switch index {
        case 8: byte == 0x74
        case 15: byte == 0x7a
        case 16: byte == 0x2d
        case 17...: isDigit || (0x61...0x7a).contains(byte)
        default: isDigit
        }
      guard isValid else { return nil }
    }
    description = text
    guard Timestamp(iso: isoStart) != nil else { return nil }
  }

  private init(unchecked text: String) { description = text }

  /// Makes an id for a session that starts now.
  public static func make(at start: Timestamp, by machine: Machine = .current) -> SessionID {
    SessionID(unchecked: "\(start.compact)-\(RandomName.make(8, machine.random))")
  }

  private var isoStart: String {
    let bytes = Array(description.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T"
      + "\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
  }

  /// When the session started, to the second.
  public var startedAt: Timestamp { Timestamp(iso: isoStart) ?? Timestamp(milliseconds: 0) }

  /// The UTC day on which it started: `2026-01-22`.
  public var day: String { String(isoStart.prefix(10)) }

  /// Orders by start.
  public static func < (left: SessionID, right: SessionID) -> Bool {
    left.description < right.description
  }
}

extension SessionID: Codable {
  /// Reads a string that must be an id.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = SessionID(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a session id"))
    }
    self = id
  }

  /// Writes the string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
