public import Platform

/// A session's id, `20260122t143005z-k3f9a7c2`: UTC start and 8 random characters, in lower case.
///
/// A value of this type is safe as a file name and as part of a key.
public struct SessionID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The id.
  public let description: String

  /// Parses an id; nil for anything else, in particular for paths.
  public init?(_ text: String) {
    let isName = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) }
    guard text.utf8.count == 25, Self.start(of: text) != nil,
      text.utf8.dropFirst(17).allSatisfy(isName)
    else { return nil }
    description = text
  }

  private init(unchecked text: String) { description = text }

  /// Makes an id for a session.
  ///
  /// - Parameters:
  ///   - start: when it starts.
  ///   - machine: its random numbers distinguish sessions of the same second.
  public static func make(at start: Timestamp, by machine: Machine) -> SessionID {
    SessionID(unchecked: "\(start.compact)-\(RandomName.make(8, machine.random))")
  }

  private static let isoForm = Array("0000-00-00T00:00:00Z".utf8)
  /// The index in that form of each digit of an id.
  private static let isoPlaces = [0, 1, 2, 3, 5, 6, 8, 9, -1, 11, 12, 14, 15, 17, 18]

  /// The start that the first 17 characters of an id name; nil if they name none.
  ///
  /// Called for each object of a listing, so it makes no string.
  private static func start(of text: String) -> Timestamp? {
    var iso = isoForm
    var place = 0
    for byte in text.utf8.prefix(17) {
      let isRight =
        switch place {
        case 8: byte == 0x74
        case 15: byte == 0x7a
        case 16: byte == 0x2d
        default: true
        }
      guard isRight else { return nil }
      if place < 15, place != 8 { iso[isoPlaces[place]] = byte }
      place += 1
    }
    return iso.withUnsafeBytes(Timestamp.parse).map(\.0)
  }

  /// When the session started, to the second.
  public var startedAt: Timestamp { Self.start(of: description) ?? Timestamp(milliseconds: 0) }

  /// The UTC day on which it started: `2026-01-22`.
  public var day: String {
    // Part of each path and key, so it compares no characters.
    String(unsafeUninitializedCapacity: 10) { text in
      var place = 0
      for digit in description.utf8.prefix(8) {
        if place == 4 || place == 7 {
          text[place] = UInt8(ascii: "-")
          place += 1
        }
        text[place] = digit
        place += 1
      }
      return place
    }
  }

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
