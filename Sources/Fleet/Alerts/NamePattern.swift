/// A name in which `*` matches any characters, such as `kiosk-*`.
package struct NamePattern: Sendable, Hashable {
  private let parts: [[UInt8]]

  /// Parses a pattern.
  package init(_ text: String) {
    parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
      .map(Array.init)
  }

  /// Whether a name matches as a whole.
  package func matches(_ name: String) -> Bool {
    var rest = Array(name.utf8)[...]
    guard let first = parts.first, rest.starts(with: first) else { return false }
    rest = rest.dropFirst(first.count)
    guard parts.count > 1, let last = parts.last else { return rest.isEmpty }
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let start = rest.firstRange(of: part) else { return false }
      rest = rest[start.upperBound...]
    }
    return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
  }
}
