import Foundation

/// The target of a redirect, for one request.
struct S3Route: Equatable {
  /// Scheme and authority.
  let origin: String
  /// The path before the key: empty, or a slash and the bucket.
  let path: String
  /// The region in the host's name.
  let region: String?

  /// Reads a `Location`, or an endpoint's host.
  ///
  /// Nil unless it is the same service over the same scheme: a forged header must not obtain a
  /// request of ours that is signed for another host.
  init?(_ location: String, bucket: String, from origin: String) {
    let scheme = origin.hasPrefix("https://") ? "https://" : "http://"
    let rest: Substring
    if let mark = location.range(of: "://") {
      guard location[..<mark.upperBound].lowercased() == scheme else { return nil }
      rest = location[mark.upperBound...]
    } else {
      rest = location[...]
    }
    let authority = rest.prefix { !"/?#\\".contains($0) }.lowercased()
    guard !authority.isEmpty, authority.utf8.count <= 255,
      authority.utf8.allSatisfy(Self.isHostByte)
    else { return nil }
    let present = origin.dropFirst(scheme.count).lowercased()
    let known = S3Host(Self.host(authority))
    let isSame: Bool
    if let here = S3Host(Self.host(present)) {
      isSame = known?.provider.id == here.provider.id && !authority.contains(":")
    } else {
      isSame = authority == present || authority.hasSuffix("." + present)
    }
    guard isSame else { return nil }
    region = known?.region
    let isVirtual = authority.hasPrefix(bucket.lowercased() + ".")
    if isVirtual, bucket.contains("."), scheme == "https://" {
      // No certificate covers the labels of such a bucket.
      self.origin = scheme + authority.dropFirst(bucket.utf8.count + 1)
      path = "/\(bucket)"
    } else {
      self.origin = scheme + authority
      path = isVirtual ? "" : "/\(bucket)"
    }
  }

  private static func host(_ authority: String) -> String {
    String(authority.prefix { $0 != ":" })
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: ".-_:".utf8.contains(byte)
    }
  }
}
