import Foundation
import HTTPTransport

extension StoreURL {
  static func s3(_ text: String, _ bucket: String, _ path: String) throws -> (Kind, String) {
    try refuseUser(text, bucket)
    if bucket.hasPrefix("arn:") { return try accessPoint(text, bucket, path) }
    // The bucket rule of the S3 user guide, plus the upper case and underscores of old buckets.
    guard (3...255).contains(bucket.utf8.count), bucket.utf8.allSatisfy(isBucketByte),
      let first = bucket.utf8.first, isAlphanumeric(first), !hasEmptyLabel(bucket)
    else { throw refused(text, "\"\(bucket)\" is not a bucket name") }
    let prefix = path.split(separator: "/").joined(separator: "/")
    try checkPrefix(prefix, of: text)
    let canonical = prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)"
    return (.s3(bucket: bucket, prefix: prefix), canonical)
  }

  /// Rejects a prefix of a bucket that no key may begin with.
  static func checkPrefix(_ prefix: String, of text: String) throws {
    guard prefix.isEmpty || ObjectKey.isValid(prefix) else {
      throw refused(
        text, "the prefix holds other characters than A-Z a-z 0-9 . _ - /",
        advice: "Choose a prefix of these characters.")
    }
  }

  /// Whether a bucket's name has two dots in a row.
  private static func hasEmptyLabel(_ bucket: String) -> Bool {
    var previous = UInt8(0)
    for byte in bucket.utf8 {
      if byte == UInt8(ascii: "."), previous == byte { return true }
      previous = byte
    }
    return false
  }

  static func webdav(
    _ text: String, _ scheme: String, _ authority: String, _ path: String, allowsPlaintext: Bool
  ) throws -> (Kind, String) {
    try refuseUser(text, authority)
    let (host, port) = try hostAndPort(text, authority.lowercased())
    if scheme == "http", !Loopback.isHost(host), !allowsPlaintext {
      throw refused(
        text, "http:// sends password and logs unencrypted",
        advice: "Use https://; or accept this with --allow-plaintext or allow-plaintext: true.")
    }
    let segments = path.split(separator: "/").map { encodedOnce(String($0)) }
    guard !segments.contains("."), !segments.contains("..") else {
      throw refused(text, "the path holds . or .. segments")
    }
    let standard = scheme == "https" ? 443 : 80
    let shownPort = port.map { $0 == standard ? "" : ":\($0)" } ?? ""
    let url = ([scheme + "://" + host + shownPort] + segments).joined(separator: "/")
    return (.webdav(url: url), url)
  }

  static func directory(_ text: String, _ authority: String, _ path: String) throws
    -> (Kind, String)
  {
    guard authority.isEmpty || authority == "localhost", path.hasPrefix("/"),
      let decoded = path.removingPercentEncoding, !decoded.utf8.contains(0)
    else { throw refused(text, "file:// needs an absolute path: file:///folder") }
    let segments = decoded.split(separator: "/")
    guard !segments.contains("."), !segments.contains("..") else {
      throw refused(text, "the path holds . or .. segments")
    }
    guard !segments.isEmpty else { throw refused(text, "the root folder cannot be a store") }
    let plain = "/" + segments.joined(separator: "/")
    // The location is parsed again when read from a configuration: escape the escape character.
    return (.directory(path: plain), "file://" + plain.replacing("%", with: "%25"))
  }

  private static func refuseUser(_ text: String, _ authority: String) throws {
    guard authority.contains("@") else { return }
    throw refused(
      text, "a user name or password in the URL would end up in logs",
      advice: "Put the login into the configuration or the environment, not into the URL.")
  }

  private static func hostAndPort(_ text: String, _ authority: String) throws -> (String, Int?) {
    var host = authority
    var port: Int?
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      host = String(authority[..<colon])
      guard let number = Int(authority[authority.index(after: colon)...]),
        (1...65535).contains(number)
      else { throw refused(text, "the port is not a number from 1 to 65535") }
      port = number
    }
    let isV6 = host.hasPrefix("[") && host.hasSuffix("]")
    let allowed = host.utf8.allSatisfy { byte in
      isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        || byte == UInt8(ascii: "_") || (isV6 && ":[]".utf8.contains(byte))
    }
    guard !host.isEmpty, allowed else { throw refused(text, "it has no valid host name") }
    return (host, port)
  }

  /// Whether traffic to a URL cannot be intercepted: it is `https`, or stays on this machine.
  static func isPrivate(_ url: String) -> Bool {
    guard url.hasPrefix("http://") else { return url.hasPrefix("https://") }
    let authority = url.dropFirst(7).prefix { $0 != "/" }
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
      return Loopback.isHost(String(authority))
    }
    return Loopback.isHost(String(authority[..<colon]))
  }

  /// Whether a store's clock is this machine's: it is a folder, or a server on the loopback.
  ///
  /// - Parameter location: from ``ObjectStore/location``.
  package static func isOnThisMachine(_ location: String) -> Bool {
    if location.hasPrefix("file:") { return true }
    let endpoint = location.range(of: "?endpoint=").map { location[$0.upperBound...] }
    let url = endpoint ?? location[...]
    guard endpoint != nil || url.hasPrefix("http") else { return false }
    return Loopback.isHost(of: String(url))
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func isBucketByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || ".-_".utf8.contains(byte)
  }

  /// A path segment percent-encoded, whether or not the user had encoded it.
  private static func encodedOnce(_ segment: String) -> String {
    PercentEncoding.encode(segment.removingPercentEncoding ?? segment)
  }
}
