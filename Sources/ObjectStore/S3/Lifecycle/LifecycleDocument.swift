/// A bucket's lifecycle configuration as bytes, so that foreign parts stay verbatim.
struct LifecycleDocument: Sendable, Equatable {
  let bytes: [UInt8]
  private let root: XMLElement

  /// Reads a document; nil if it is not one.
  init?(_ bytes: [UInt8]) {
    guard let root = try? XMLScanner.parse(bytes), root.name == "LifecycleConfiguration" else {
      return nil
    }
    self.bytes = bytes
    self.root = root
  }

  var rules: [XMLElement] { root.all("Rule") }

  /// The rules of others.
  func others(than rule: LifecycleRule) -> [XMLElement] {
    rules.filter { $0.child("ID")?.text != rule.id }
  }

  /// Whether it contains exactly this rule, once.
  func holds(_ rule: LifecycleRule) -> Bool {
    let own = rules.filter { $0.child("ID")?.text == rule.id }
    return own.count == 1 && own.allSatisfy(rule.matches)
  }

  /// Whether both contain the same foreign rules, in any order.
  func keeps(_ other: LifecycleDocument, besides rule: LifecycleRule) -> Bool {
    var left = others(than: rule).map(Self.ordered)
    for element in other.others(than: rule).map(Self.ordered) {
      guard let index = left.firstIndex(of: element) else { return false }
      left.remove(at: index)
    }
    return left.isEmpty
  }

  /// This configuration with a rule in place of its former version, or at the end.
  ///
  /// Nil if its form does not allow an addition.
  func merging(_ rule: LifecycleRule) -> LifecycleDocument? {
    let own = rules.filter { $0.child("ID")?.text == rule.id }
    // Either all rules of a configuration have `Prefix`, or none.
    let isOld = others(than: rule).contains { $0.child("Prefix") != nil }
    let element = Array(rule.element(hasFilter: !isOld).utf8)
    if rules.isEmpty {
      return root.children.isEmpty ? LifecycleDocument(Array(rule.document.utf8)) : nil
    }
    var merged = bytes
    for former in own.dropFirst().reversed() { merged.removeSubrange(former.range) }
    if let former = own.first {
      merged.replaceSubrange(former.range, with: element)
    } else if let last = rules.last {
      merged.insert(contentsOf: element, at: last.range.upperBound)
    }
    guard let result = LifecycleDocument(merged), result.holds(rule),
      result.others(than: rule) == others(than: rule),
      result.rules.allSatisfy({ $0.namespace == root.namespace })
    else { return nil }
    return result
  }

  /// The element with its children in a canonical order.
  private static func ordered(_ element: XMLElement) -> XMLElement {
    var result = element
    result.children = element.children.map(ordered).sorted { key($0) < key($1) }
    return result
  }

  private static func key(_ element: XMLElement) -> String {
    "<\(element.name)>\(element.text)" + element.children.map(key).joined()
  }
}
