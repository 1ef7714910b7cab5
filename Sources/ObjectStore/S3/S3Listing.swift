import Foundation
import HTTPTransport
import Platform

/// The document that lists a bucket.
struct S3Listing {
  private let root: XMLElement
  private let isEncoded: Bool

  init(_ root: XMLElement) {
    self.root = root
    isEncoded = root.child("EncodingType")?.text == "url"
  }

  /// The full keys in the bucket; those that are not UTF-8 are omitted.
  var keys: [String] { root.all("Contents").compactMap { $0.child("Key").flatMap(decoded) } }

  /// The page of a listing, keys relative to `fullPrefix`.
  func page(fullPrefix: String, prefix: String, garbage: (String) -> StoreError) throws -> ListPage
  {
    var page = ListPage()
    var directories: Set<String> = []
    for contents in root.all("Contents") {
      guard let name = contents.child("Key").flatMap(decoded) else { continue }
      guard name.hasPrefix(fullPrefix) else { throw garbage("a key outside the prefix") }
      let key = String(name.dropFirst(fullPrefix.count))
      guard ObjectKey.isValid(key), key.hasPrefix(prefix) else { continue }
      // A server that does not know delimiters lists the levels below as well.
      if let slash = key.dropFirst(prefix.count).firstIndex(of: "/") {
        directories.insert(String(key[...slash]))
        continue
      }
      // Skip an entry without a size; the others are usable.
      guard let size = contents.child("Size").flatMap({ ByteCount($0.text) }) else { continue }
      guard ObjectEntry.possibleSizes.contains(size) else {
        throw garbage("an object with a size that cannot be")
      }
      page.objects.append(
        ObjectEntry(
          key: key, size: size,
          modified: contents.child("LastModified").flatMap { HTTPDate.parse($0.text) },
          etag: contents.child("ETag").map { unquoted($0.text) }))
    }
    for common in root.all("CommonPrefixes").flatMap({ $0.all("Prefix") }) {
      guard let name = decoded(common), name.hasPrefix(fullPrefix) else { continue }
      let key = String(name.dropFirst(fullPrefix.count))
      if key.hasSuffix("/"), ObjectKey.isValidPrefix(key), key.hasPrefix(prefix), !key.isEmpty {
        directories.insert(key)
      }
    }
    page.directories = directories.sorted()
    // `True` and `1` count like `true`.
    if ["true", "1"].contains(root.child("IsTruncated")?.text.lowercased()) {
      guard let next = root.child("NextContinuationToken")?.text, !next.isEmpty else {
        throw garbage("a truncated listing without a continuation token")
      }
      page.next = next
    }
    return page
  }

  /// With encoding-type=url some servers write a space as `+`, and all a plus as `%2B`.
  private func decoded(_ element: XMLElement) -> String? {
    guard isEncoded else { return element.text }
    return PercentEncoding.decode(element.text, plusIsSpace: true)
      .flatMap { String(validating: $0, as: UTF8.self) }
  }
}
