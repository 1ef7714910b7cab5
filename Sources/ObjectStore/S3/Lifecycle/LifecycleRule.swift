import Crypto
import Foundation
import Platform

/// A rule by which an S3 service deletes old objects below one prefix.
package struct LifecycleRule: Sendable, Hashable {
  /// The rule's id in the bucket's configuration: always the same for a prefix.
  package let id: String
  /// The prefix of the keys, ending in a slash.
  package let prefix: String
  /// The age in whole days at which an object is deleted.
  package let days: Int

  /// Makes the rule for objects below `folder` in a store.
  ///
  /// Throws `StoreError` with `unsupported` for a store without such rules.
  package init(_ store: StoreURL, below folder: String, days: Int) throws {
    guard case .s3(let bucket, let storePrefix) = store.kind else {
      throw StoreError(
        .unsupported, operation: "lifecycle", target: store.description,
        response: "only S3 buckets have lifecycle rules",
        advice: "Use 'tidemark reap --remote --all-devices' now and then.")
    }
    guard S3AccessPoint(bucket) == nil else {
      throw StoreError(
        .unsupported, operation: "lifecycle", target: store.description,
        response: "an access point has no lifecycle rules", advice: "Name the bucket behind it.")
    }
    prefix = storePrefix.isEmpty ? folder : "\(storePrefix)/\(folder)"
    id = "tidemark-" + Hex.text(SHA256.hash(data: Data(prefix.utf8)).prefix(8))
    self.days = max(1, days)
  }

  /// A complete configuration with this rule alone.
  package var document: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      \(element(hasFilter: true))
    </LifecycleConfiguration>

    """
  }

  /// The rule as an element; configurations of the first version have no `Filter`.
  func element(hasFilter: Bool) -> String {
    let text = "<Prefix>\(XMLText.escaped(prefix))</Prefix>"
    return "<Rule><ID>\(id)</ID>\(hasFilter ? "<Filter>\(text)</Filter>" : text)"
      + "<Status>Enabled</Status><Expiration><Days>\(days)</Days></Expiration></Rule>"
  }

  /// Whether an element states exactly this rule.
  func matches(_ element: XMLElement) -> Bool {
    let place = element.child("Filter") ?? element
    let known: Set = ["ID", "Filter", "Prefix", "Status", "Expiration"]
    return element.child("ID")?.text == id && place.child("Prefix")?.text == prefix
      && place.children.count == (element.child("Filter") == nil ? element.children.count : 1)
      && element.child("Status")?.text == "Enabled"
      && element.child("Expiration")?.children.map(\.name) == ["Days"]
      && element.child("Expiration")?.child("Days").flatMap { Int($0.text) } == days
      && element.children.allSatisfy { known.contains($0.name) }
  }
}
