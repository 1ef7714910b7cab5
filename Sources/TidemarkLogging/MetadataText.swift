import LogRecords
import Logging

/// Metadata as it follows a record's message: `user=<private:anna> request=17 text="two words"`.
enum MetadataText {
  /// The pairs, sorted by key.
  ///
  /// Calls the values' own descriptions: do not hold a lock.
  static func bytes(_ metadata: Logger.Metadata) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(metadata.count * expectedPair)
    if metadata.count <= fewPairs {
      appendInOrder(metadata, to: &bytes)
    } else {
      for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
        append(key, value, to: &bytes)
      }
    }
    return bytes
  }

  /// Bytes reserved for each pair initially.
  private static let expectedPair = 32
  /// Up to this number of pairs, searching for the next one is faster than sorting.
  private static let fewPairs = 4

  /// Appends the sorted pairs without allocating a second list.
  private static func appendInOrder(_ metadata: Logger.Metadata, to bytes: inout [UInt8]) {
    var last: String?
    for _ in 0..<metadata.count {
      var next: Logger.Metadata.Index?
      for index in metadata.indices {
        let key = metadata.keys[index]
        guard last.map({ $0 < key }) ?? true else { continue }
        if next.map({ key < metadata.keys[$0] }) ?? true { next = index }
      }
      guard let next else { return }
      let (key, value) = metadata[next]
      append(key, value, to: &bytes)
      last = key
    }
  }

  private static func append(
    _ key: String, _ value: Logger.MetadataValue, to bytes: inout [UInt8]
  ) {
    if !bytes.isEmpty { bytes.append(0x20) }
    bytes += key.utf8
    bytes.append(UInt8(ascii: "="))
    append(value, to: &bytes)
  }

  private static func append(_ value: Logger.MetadataValue, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): append(text, to: &bytes)
    case .stringConvertible(let value_):
      let isPrivate = value.attributes[LogPrivacy.self] == .private
      let text = value_.description
      if isPrivate { bytes += PrivateText.marked(text).utf8 } else { append(text, to: &bytes) }
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes += ", ".utf8 }
        append(value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .dictionary(let values):
      bytes.append(UInt8(ascii: "{"))
      bytes += Self.bytes(values)
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Appends a text: unchanged if it is one word, else in quotes.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let needsQuotes =
      text.isEmpty
      || text.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "=") }
    // A private value's mark is recognized only without quotes.
    guard needsQuotes, !text.hasPrefix(PrivateText.opening) else {
      bytes += text.utf8
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x0a: bytes += "\\n".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
