/// Handles redirects.
package enum Redirection {
  /// The absolute URL of a redirect to the same server; nil for any other answer.
  ///
  /// The same scheme, host and port: no other server gets the login.
  package static func target(of response: HTTPResponse, from url: String) -> String? {
    guard [301, 302, 307, 308].contains(response.status),
      let location = response.header("Location"), location.utf8.count <= 4096,
      location.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let origin = origin(of: url)
    else { return nil }
    let whole: String
    if location.hasPrefix("/") && !location.hasPrefix("//") {
      whole = url.prefix(originLength(of: url)) + location
    } else {
      whole = location
    }
    guard self.origin(of: whole) == origin, !whole.contains("#"), whole != url else { return nil }
    return whole
  }

  /// The target of a redirect, for messages: without login, query and fragment.
  package static func shown(_ response: HTTPResponse) -> String? {
    guard (300..<400).contains(response.status), let location = response.header("Location") else {
      return nil
    }
    let plain = location.prefix { $0 != "?" && $0 != "#" }
    return plain.contains("@") ? "another place" : String(plain)
  }

  private static func originLength(of url: String) -> Int {
    guard let scheme = url.firstRange(of: "://") else { return 0 }
    let end = url[scheme.upperBound...].firstIndex(of: "/") ?? url.endIndex
    return url.distance(from: url.startIndex, to: end)
  }

  /// Scheme, host and port in canonical form, whether or not the port is written.
  private static func origin(of url: String) -> String? {
    let text = url.prefix(originLength(of: url)).lowercased()
    guard !text.contains("@") else { return nil }
    if text.hasPrefix("https://") {
      return text.hasSuffix(":443") ? String(text.dropLast(4)) : text
    }
    guard text.hasPrefix("http://") else { return nil }
    return text.hasSuffix(":80") ? String(text.dropLast(3)) : text
  }
}
