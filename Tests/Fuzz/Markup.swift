@testable import ObjectStore

/// Bytes that claim to be a listing are read within bounds, or rejected.
func fuzzMarkup(_ input: [UInt8]) {
  guard let root = try? XMLScanner.parse(input) else { return }
  precondition(root.range.upperBound <= input.count)
  // The element alone means the same, except for prefixes that it has to declare itself.
  let again = try? XMLScanner.parse(Array(input[root.range]))
  precondition(again == root)
  precondition(depth(root) <= XMLScanner.maximumDepth)
}

private func depth(_ element: XMLElement) -> Int {
  1 + (element.children.map(depth).max() ?? 0)
}
