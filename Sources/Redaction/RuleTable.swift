/// A value of a table of rules.
///
/// The tables are JSON. They are read by bytes, because a pass that sends a few lines needs them
/// every minute: a decoder would take a tenth of its time.
enum TableValue: Sendable {
  case text(String)
  case number(Int)
  case truth(Bool)
  case list([TableValue])
  case row(TableRow)

  /// Reads a table, which is part of the program.
  init(_ table: [UInt8]) {
    self = table.withUnsafeBufferPointer { bytes in
      var reader = TableReader(bytes: bytes)
      return reader.value()
    }
  }

  /// The rows of a list.
  var rows: [TableRow] {
    guard case .list(let values) = self else { preconditionFailure("not a list of a table") }
    return values.map { value in
      guard case .row(let row) = value else { preconditionFailure("not a row of a table") }
      return row
    }
  }

  /// The texts of a list.
  var texts: [String] {
    guard case .list(let values) = self else { preconditionFailure("not a list of a table") }
    return values.map { value in
      guard case .text(let text) = value else { preconditionFailure("not a text of a table") }
      return text
    }
  }
}

/// A row of a table of rules: few members, which are searched in order.
struct TableRow: Sendable {
  struct Member: Sendable {
    let key: String
    let value: TableValue
  }

  fileprivate(set) var members: [Member] = []

  /// The value of a member; nil without it.
  func value(_ key: String) -> TableValue? {
    for member in members where member.key == key { return member.value }
    return nil
  }

  /// The text of a member; nil without it.
  func text(_ key: String) -> String? {
    guard let value = value(key) else { return nil }
    guard case .text(let text) = value else { preconditionFailure("'\(key)' is not a text") }
    return text
  }

  /// The text of a member that every row has.
  func requiredText(_ key: String) -> String {
    guard let text = text(key) else { preconditionFailure("a row without '\(key)'") }
    return text
  }

  /// The number of a member; nil without it.
  func number(_ key: String) -> Int? {
    guard let value = value(key) else { return nil }
    guard case .number(let number) = value else { preconditionFailure("'\(key)' is not a number") }
    return number
  }

  /// The number of a member that every row has.
  func requiredNumber(_ key: String) -> Int {
    guard let number = number(key) else { preconditionFailure("a row without '\(key)'") }
    return number
  }

  /// Whether a member is true; nil without it.
  func truth(_ key: String) -> Bool? {
    guard let value = value(key) else { return nil }
    guard case .truth(let truth) = value else { preconditionFailure("'\(key)' is not a truth") }
    return truth
  }

  /// The texts of a member; nil without it.
  func texts(_ key: String) -> [String]? { value(key)?.texts }

  /// The texts of a member that every row has.
  func requiredTexts(_ key: String) -> [String] {
    guard let texts = texts(key) else { preconditionFailure("a row without '\(key)'") }
    return texts
  }

  /// The rows of a member; nil without it.
  func rows(_ key: String) -> [TableRow]? { value(key)?.rows }

  /// The row of a member; nil without it.
  func row(_ key: String) -> TableRow? {
    guard let value = value(key) else { return nil }
    guard case .row(let row) = value else { preconditionFailure("'\(key)' is not a row") }
    return row
  }
}

/// Reads the JSON of a table: whole numbers, no null, and escapes of single characters only.
private struct TableReader {
  let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// The byte at the position; 0 at the end, which no value contains.
  private var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

  /// The next byte that is neither blank nor separator.
  private mutating func next() -> UInt8 {
    while true {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: ":"):
        position += 1
      default: return byte
      }
    }
  }

  mutating func value() -> TableValue {
    switch next() {
    case UInt8(ascii: "\""): return .text(text())
    case UInt8(ascii: "["):
      position += 1
      var values: [TableValue] = []
      while next() != UInt8(ascii: "]") { values.append(value()) }
      position += 1
      return .list(values)
    case UInt8(ascii: "{"):
      position += 1
      var row = TableRow()
      while next() != UInt8(ascii: "}") {
        let key = text()
        row.members.append(TableRow.Member(key: key, value: value()))
      }
      position += 1
      return .row(row)
    case UInt8(ascii: "t"):
      position += "true".utf8.count
      return .truth(true)
    case UInt8(ascii: "f"):
      position += "false".utf8.count
      return .truth(false)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(number())
    default: preconditionFailure("no value at byte \(position) of a table")
    }
  }

  private mutating func number() -> Int {
    var number = 0
    while case UInt8(ascii: "0")...UInt8(ascii: "9") = byte {
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
      position += 1
    }
    return number
  }

  private mutating func text() -> String {
    precondition(byte == UInt8(ascii: "\""), "no text at byte \(position) of a table")
    position += 1
    var start = position
    var before: [UInt8] = []
    while byte != UInt8(ascii: "\"") {
      precondition(position < bytes.count, "a table ends in a text")
      if byte == UInt8(ascii: "\\") {
        before += bytes[start..<position]
        position += 1
        before.append(unescaped(byte))
        start = position + 1
      }
      position += 1
    }
    let rest = UnsafeBufferPointer(rebasing: bytes[start..<position])
    position += 1
    return before.isEmpty
      ? String(decoding: rest, as: UTF8.self) : String(decoding: before + rest, as: UTF8.self)
  }

  private func unescaped(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return letter
    case UInt8(ascii: "t"): return UInt8(ascii: "\t")
    case UInt8(ascii: "n"): return UInt8(ascii: "\n")
    case UInt8(ascii: "r"): return UInt8(ascii: "\r")
    default: preconditionFailure("an unknown escape at byte \(position) of a table")
    }
  }
}
