import Delta
import Platform
import SessionLog

/// The fields of names.
enum NameField {
  /// 12 digits, so that names sort in the order of bytes.
  static let offsetDigits = 12

  /// The parts between dots; only names of ASCII characters count.
  static func parts(of fileName: String) -> [Substring] {
    fileName.fields(between: ".", omittingEmpty: false)
  }

  /// Joins a file name from its session and what is appended.
  ///
  /// Names are made for each object of a listing, so this joins bytes rather than strings.
  static func join(_ session: SessionID, _ append: (inout [UInt8]) -> Void) -> String {
    var name: [UInt8] = []
    name.reserveCapacity(120)
    name += session.description.utf8
    append(&name)
    return String(decoding: name, as: UTF8.self)
  }

  /// Appends the last fields before the ending: the content's hash, and the object's size.
  static func append(hash: String, stored: ByteCount, to name: inout [UInt8]) {
    name += ".".utf8
    name += hash.utf8
    name += ".".utf8
    append(stored.bytes, to: &name)
  }

  /// Appends an offset.
  static func append(_ offset: StreamOffset, to name: inout [UInt8]) {
    append(Int64(offset), digits: offsetDigits, to: &name)
  }

  /// Appends a number of at least so many digits.
  static func append(_ number: Int64, digits: Int = 1, to name: inout [UInt8]) {
    guard number >= 0 else { return name += String(number).utf8 }
    var (divisor, count) = (Int64(1), 1)
    while number / divisor >= 10 {
      divisor *= 10
      count += 1
    }
    while count < digits {
      name.append(UInt8(ascii: "0"))
      count += 1
    }
    while divisor > 0 {
      name.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  static func offset(_ text: Substring) -> StreamOffset? {
    text.utf8.count == offsetDigits ? number(text).map { StreamOffset($0) } : nil
  }

  static func size(_ text: Substring) -> ByteCount? { number(text).map { ByteCount($0) } }

  static func number(_ text: Substring) -> Int64? {
    guard (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }

  /// `g1` and up.
  static func generation(_ text: Substring) -> Int? {
    guard text.first == "g", let number = number(text.dropFirst()), number > 0,
      number <= DeltaInstructions.highestGeneration
    else { return nil }
    return Int(number)
  }

  static func hash(_ text: Substring) -> String? {
    guard text.utf8.count == 16,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    return String(text)
  }

  static func hash16(_ digest: some Sequence<UInt8>) -> String { Hex.text(digest.prefix(8)) }
}
