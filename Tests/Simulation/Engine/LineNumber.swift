/// The number that identifies a line of another program's log: `L0000012;`.
enum LineNumber {
  private static let digits = 7

  static func text(_ number: Int) -> [UInt8] {
    let digits = String(number)
    let zeros = String(repeating: "0", count: Self.digits - digits.count)
    return Array("L\(zeros)\(digits);".utf8)
  }

  /// The numbers of the complete lines in some bytes, in order.
  static func all(in bytes: [UInt8]) -> [Int] {
    var numbers: [Int] = []
    for line in bytes.split(separator: 0x0a) {
      guard let start = line.firstIndex(of: 0x4c), line.count >= start - line.startIndex + 9,
        line[start + 8] == 0x3b
      else { continue }
      var number = 0
      for byte in line[(start + 1)..<(start + 8)] {
        guard (0x30...0x39).contains(byte) else { number = -1; break }
        number = number * 10 + Int(byte - 0x30)
      }
      if number > 0 { numbers.append(number) }
    }
    return numbers
  }
}
