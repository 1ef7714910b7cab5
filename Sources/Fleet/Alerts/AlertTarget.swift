import HTTPTransport

/// A receiver of messages.
package enum AlertTarget: Sendable, Equatable {
  /// A program and its arguments, run without a shell.
  case command([String])
  /// A URL that messages are posted to.
  case webhook(Webhook)
}

/// A receiver of messages over HTTP.
package struct Webhook: Sendable, Equatable, CustomStringConvertible {
  /// The format it accepts.
  package enum Form: String, Sendable, CaseIterable {
    /// The message as JSON.
    case json
    /// Slack's incoming webhooks, and compatible ones.
    case slack
    /// A topic of ntfy.
    case ntfy
    /// The message in one line, and its lines.
    case text
  }

  /// `https`, or `http` to this machine; it may hold a secret.
  package let url: String
  /// The format it accepts.
  package var form = Form.json
  /// Header fields, which may hold secrets.
  package var headers: [Header] = []

  /// A header field.
  package struct Header: Sendable, Equatable {
    package let name: String
    package let value: String
  }

  /// Makes a webhook.
  ///
  /// - Returns: nil for a URL of another kind.
  package init?(_ url: String) {
    guard url.utf8.count <= 2048, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      return nil
    }
    let isLocal = url.hasPrefix("http://") && Loopback.isHost(of: url)
    guard isLocal || (url.hasPrefix("https://") && url.utf8.count > 8) else { return nil }
    self.url = url
  }

  /// Parses header fields, one `Name: value` per line.
  ///
  /// - Returns: nil if any line has another form.
  package static func headers(_ text: String) -> [Header]? {
    var headers: [Header] = []
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      let name = line[..<colon]
      guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
        value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
      else { return nil }
      headers.append(Header(name: String(name), value: String(value)))
    }
    return headers
  }

  /// The host alone: path and query of such URLs are often secrets.
  package var description: String {
    let rest = url.drop { $0 != "/" }.dropFirst(2)
    return String(url.prefix(url.count - rest.count) + rest.prefix { !"/?#".contains($0) })
      .split(separator: "@").last.map(String.init) ?? ""
  }
}
