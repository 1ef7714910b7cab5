import Foundation

extension ByteCount {
  /// The forms that ``init(size:)`` accepts, for messages and help.
  package static let sizeForms = "500k, 5MB or '10 MiB'"

  /// For a person, in decimal units: `1.2 MB`; ``init(size:)`` parses it.
  package var text: String {
    var value = Double(bytes)
    if value.magnitude < 1000 { return "\(bytes) B" }
    let units = ["KB", "MB", "GB", "TB"]
    for unit in units {
      value /= 1000
      // Values that round to 1000.0 become 1.0 of the next unit.
      if value.magnitude < 999.95 || unit == units.last {
        return String(format: "%.1f %@", value, unit)
      }
    }
    return "\(bytes) B"
  }

  /// Parses a size as people write it: `1000`, `500k`, `5MB`, `1.5G`, `10 MiB`.
  ///
  /// `k`, `M`, `G` and `T` are powers of 1000, as in printed sizes; with an `i`, powers of 1024.
  /// Case is ignored, and a trailing `B` is optional.
  ///
  /// - Parameter text: the size.
  package init?(size text: String) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    var unit = text[number.endIndex...].drop { $0 == " " }.lowercased()
    guard !text.hasSuffix(" ") else { return nil }
    if unit.hasSuffix("b") { unit.removeLast() }
    var base: Int64 = 1000
    if unit.hasSuffix("i") {
      base = 1024
      unit.removeLast()
      if unit.isEmpty { return nil }
    }
    guard let power = ["", "k", "m", "g", "t"].firstIndex(of: unit) else { return nil }
    var factor: Int64 = 1
    for _ in 0..<power { factor *= base }

    let halves = number.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = halves.first, let whole = Int64(first), halves.count <= 2 else { return nil }
    let (product, isTooMuch) = whole.multipliedReportingOverflow(by: factor)
    guard !isTooMuch else { return nil }
    var fraction: Int64 = 0
    if halves.count == 2 {
      // There is no fraction of a byte.
      guard power > 0, (1...3).contains(halves[1].count), let digits = Int64(halves[1]) else {
        return nil
      }
      fraction = digits * factor / [10, 100, 1000][halves[1].count - 1]
    }
    let (sum, isFar) = product.addingReportingOverflow(fraction)
    guard !isFar else { return nil }
    self.init(sum)
  }
}
