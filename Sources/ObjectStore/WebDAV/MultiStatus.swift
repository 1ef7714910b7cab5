import Foundation
import Platform

/// The answer to a PROPFIND: one entry per resource, with the properties found.
struct MultiStatus: Equatable {
  /// One resource.
  struct Response: Equatable {
    /// The reference as written.
    var href: String
    /// The path, percent-decoded, without scheme and host; nil if it is not UTF-8.
    var path: String?
    /// The status of the whole response, if any.
    var status: Int?
    /// Whether the resource exists: a property, or the whole response, has a 2xx status.
    var isFound = false
    var isCollection = false
    var size: ByteCount?
    var modified: ServerTime?
    /// The entity tag as written, with or without quotes.
    var etag: String?
    var displayName: String?
  }

  var responses: [Response]

  /// Reads an answer.
  ///
  /// Throws `XMLError` if it is not well-formed, or not a multi-status.
  init(_ bytes: [UInt8]) throws(XMLError) {
    let root = try XMLScanner.parse(bytes)
    guard root.name == "multistatus", root.namespace == "DAV:" else {
      throw XMLError(reason: "the root is not a multistatus", offset: 0)
    }
    responses = []
    for element in root.all("response", in: "DAV:") { responses += Self.responses(element) }
  }

  /// A response names one resource, or several that share a status.
  private static func responses(_ element: XMLElement) -> [Response] {
    // What they share is read once.
    var shared = Response(href: "")
    shared.status = element.child("status", in: "DAV:").flatMap { status($0.text) }
    shared.isFound = shared.status.map { (200..<300).contains($0) } ?? false
    for propstat in element.all("propstat", in: "DAV:") {
      let code = propstat.child("status", in: "DAV:").flatMap { status($0.text) }
      guard let code, (200..<300).contains(code), let found = propstat.child("prop", in: "DAV:")
      else { continue }
      shared.isFound = true
      read(found, into: &shared)
    }
    return element.all("href", in: "DAV:").map { reference in
      var response = shared
      response.href = reference.text
      response.path = path(reference.text)
      return response
    }
  }

  private static func read(_ prop: XMLElement, into response: inout Response) {
    for property in prop.children where property.namespace == "DAV:" {
      switch property.name {
      case "resourcetype":
        response.isCollection = property.child("collection", in: "DAV:") != nil
      case "getcontentlength":
        response.size = ByteCount(property.text).flatMap {
          ObjectEntry.possibleSizes.contains($0) ? $0 : nil
        }
      case "getlastmodified": response.modified = HTTPDate.parse(property.text)
      case "getetag": response.etag = property.text.isEmpty ? nil : property.text
      case "displayname": response.displayName = property.text.isEmpty ? nil : property.text
      default: break
      }
    }
  }

  private static func status(_ line: String) -> Int? {
    let words = line.split(separator: " ")
    guard words.count >= 2, words[0].uppercased().hasPrefix("HTTP/") else { return nil }
    return Int(words[1])
  }

  /// The decoded path of a reference: a path, or a whole URL.
  static func path(_ href: String) -> String? {
    var rest = Substring(href)
    if let scheme = href.range(of: "://"), href[..<scheme.lowerBound].allSatisfy(\.isLetter) {
      let authority = href[scheme.upperBound...]
      rest = authority.firstIndex(of: "/").map { authority[$0...] } ?? "/"
    }
    return PercentEncoding.decode(rest).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
