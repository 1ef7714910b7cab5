/// A wildcard pattern for one path component: `*` any bytes, `?` one byte, `[a-z]` and `[!a-z]` one
/// of a set.
///
/// As in a shell, only a pattern that begins with a dot matches a name that does.
package struct Glob: Sendable, Equatable {
  private let pattern: [UInt8]

  init(_ pattern: some Sequence<UInt8>) { self.pattern = Array(pattern) }

  /// Whether a path component contains a wildcard.
  static func isOne(_ text: some Sequence<UInt8>) -> Bool {
    text.contains { "*?[".utf8.contains($0) }
  }

  /// Whether a name matches.
  func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    match(name, recordsCaptures: false) != nil
  }

  /// Whether a name matches.
  func matches(_ name: [UInt8]) -> Bool { name.withUnsafeBufferPointer(matches) }

  /// The text matched by each `*`; nil if the name does not match.
  func captures(of name: [UInt8]) -> [Range<Int>]? {
    name.withUnsafeBufferPointer { match($0, recordsCaptures: true) }
  }

  /// Backtracks only to the last `*`; an earlier one never has to match more.
  private func match(
    _ name: UnsafeBufferPointer<UInt8>, recordsCaptures: Bool
  ) -> [Range<Int>]? {
    if name.first == UInt8(ascii: "."), pattern.first != UInt8(ascii: ".") { return nil }
    var (at, index) = (0, 0)
    var star: (pattern: Int, taken: Range<Int>)?
    var captures: [Range<Int>] = []
    while index < name.count || at < pattern.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        if recordsCaptures, let star { captures.append(star.taken) }
        star = (at, index..<index)
        at += 1
      } else if index < name.count, let next = step(at, name[index]) {
        (at, index) = (next, index + 1)
      } else if let last = star, last.taken.upperBound < name.count {
        let taken = last.taken.lowerBound..<last.taken.upperBound + 1
        star = (last.pattern, taken)
        (at, index) = (last.pattern + 1, taken.upperBound)
      } else {
        return nil
      }
    }
    if recordsCaptures, let star { captures.append(star.taken) }
    return captures
  }

  /// The position after an element that matches a byte; nil if it does not.
  private func step(_ at: Int, _ byte: UInt8) -> Int? {
    guard at < pattern.count else { return nil }
    switch pattern[at] {
    case UInt8(ascii: "?"): return at + 1
    case UInt8(ascii: "["):
      guard let (members, end) = set(at) else { fallthrough }
      return members(byte) ? end : nil
    default: return pattern[at] == byte ? at + 1 : nil
    }
  }

  /// A set and the position after it; nil without a closing bracket.
  private func set(_ start: Int) -> (members: (UInt8) -> Bool, end: Int)? {
    var at = start + 1
    let isNegated = at < pattern.count && "!^".utf8.contains(pattern[at])
    if isNegated { at += 1 }
    var ranges: [ClosedRange<UInt8>] = []
    while at < pattern.count {
      let low = pattern[at]
      if low == UInt8(ascii: "]"), !ranges.isEmpty {
        return ({ byte in ranges.contains { $0.contains(byte) } != isNegated }, at + 1)
      }
      if at + 2 < pattern.count, pattern[at + 1] == UInt8(ascii: "-"),
        pattern[at + 2] != UInt8(ascii: "]")
      {
        if low <= pattern[at + 2] { ranges.append(low...pattern[at + 2]) }
        at += 3
      } else {
        ranges.append(low...low)
        at += 1
      }
    }
    return nil
  }
}
