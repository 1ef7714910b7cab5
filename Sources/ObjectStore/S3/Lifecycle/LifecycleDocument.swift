/// The lifecycle configuration of a bucket, as its bytes: what is not ours stays as it is written.
struct LifecycleDocument: Sendable, Equatable {
  let bytes: [UInt8]
  private let root: XMLElement

  /// Reads a document; nil when it is not one.
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

  /// Whether it holds the rule, once, as it is meant.
  func holds(_ rule: LifecycleRule) -> Bool {
    let own = rules.filter { $0.child("ID")?.text == rule.id }
    return own.count == 1 && own.allSatisfy(rule.matches)
  }

  /// Whether both hold the same rules of others, in whatever order.
  func keeps(_ other: LifecycleDocument, besides rule: LifecycleRule) -> Bool {
    var left = others(than: rule).map(Self.ordered)
    for element in other.others(than: rule).map(Self.ordered) {
      guard let index = left.firstIndex(of: element) else { return false }
      left.remove(at: index)
    }
    return left.isEmpty
  }

  /// This configuration with a rule in the place of its former version, or at the end.
  ///
  /// Nil when it is written in a way that allows no addition.
  func merging(_ rule: LifecycleRule) -> LifecycleDocument? {
    let own = rules.filter { $0.child("ID")?.text == rule.id }
    // A configuration has `Prefix` in all of its rules or in none.
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

  /// The element with its children in one order, whoever wrote it.
  private static func ordered(_ element: XMLElement) -> XMLElement {
    var result = element
    result.children = element.children.map(ordered).sorted { key($0) < key($1) }
    return result
  }

  private static func key(_ element: XMLElement) -> String {
    "<\(element.name)>\(element.text)" + element.children.map(key).joined()
  }
}
