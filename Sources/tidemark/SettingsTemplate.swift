import HTTPTransport
import SessionLog

/// The configuration that `init` writes: the keys in use, and all others commented out with their
/// defaults.
enum SettingsTemplate {
  /// The text for a store; ``setting(_:in:)`` adds the settings that `init` saves from the
  /// environment.
  static func text(store: String) -> String {
    """
    # Tidemark's configuration. Environment variables override it; see tidemark(1).

    # Where logs go: s3://bucket/prefix, https://host/dav/folder or file:///folder; or none.
    store: \(quoted(store))
    # What may leave this machine: none; metadata, which is who ran what where and how it ended, but
    # nothing of its log; or logs.
    consent: logs

    \(rows(of: nil, before: "heartbeat"))
    # Programs to run, as the session's owner, when a session has crashed, and when nothing could be sent
    # for 'stale-after': they get JSON on standard input. And a URL to ask after each upload that went
    # well: a monitor can alert when it stops.
    #on-crash: [/usr/local/bin/notify, crash]
    #on-stale: [/usr/local/bin/notify, stale]
    \(rows(of: nil, from: "heartbeat"))

    # How long local and remote copies are kept; 'local-max' caps the disk: 500M, 2G. Sent
    # sessions go earlier then; if that is not enough, recorders drop output and record how much.
    # 'prune-after' removes older local rotated parts that the store has whole: 24h; by default none.
    # 'trash' is how long local copies that were deleted can be restored, as long as there is room: 0
    # for not at all. 'warn-before' reports sessions that long before their last copy expires: 3d.
    retention:
    \(rows(of: "retention"))

    # Logs that other programs write, as sessions. $1 is what the first * stands for.
    sources:
      #- path: /var/log/app/**
      #  exclude: ['*.tmp']
      #  app: app
      #  user: www-data
      #  category: web
      #  idle-end: 1d
      #  follow-links: false
      #  max-size: 10GB

    # What is masked before it leaves this machine: 'tidemark redact --preview' shows it. An own rule's
    # expression is tried around its literal 'near', and masks its first group or all it matches.
    redact:
      #private-keys: true
      #aws: true
      #gcp: true
      #github: true
      #slack: true
      #vendors: true
      #jwt: true
      #headers: true
      #url-passwords: true
      #pairs: true
      #cookies: true
      #email: false
      #cards: false
      #rules:
      #- kind: customer
      #  near: 'customer='
      #  pattern: 'customer=(\\w+)'

    # Keys that devices sign with, as 'tidemark doctor' shows them there. A device that is not named is
    # known by the first key that is seen.
    trust:
      #e7ai95i13pgofqng: ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= 2026-01-22T14:30:05.123Z

    # cron has no login environment: name a file (mode 0600) that holds the password.
    webdav:
    \(rows(of: "webdav"))

    # Without these, the AWS environment variables and profile files count. An endpoint is for
    # services other than AWS; the region, and whether the bucket stands in the path, follow from it
    # where it is known, or from 'provider': minio, ceph, swift, garage, rclone.
    s3:
    \(rows(of: "s3"))

    """
  }

  /// The lines of a section's keys, or of those outside a section, that `init` does not write.
  private static func rows(
    of section: String?, from first: String? = nil, before end: String? = nil
  ) -> String {
    let rows = Settings.keys.filter {
      $0.section == section && !["store", "consent"].contains($0.name)
    }
    let start = rows.firstIndex { $0.name == first } ?? rows.startIndex
    let stop = rows.firstIndex { $0.name == end } ?? rows.endIndex
    return rows[start..<stop].flatMap(\.template).joined(separator: "\n")
  }

  /// A value as YAML, quoted unless it is plain.
  private static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0)
        || "/._-@%+:".utf8.contains($0)
    }
    if plain && text.first?.isLetter == true && text.last != ":" { return text }
    return "'" + text.replacing("'", with: "''") + "'"
  }

  /// An existing configuration with another store, otherwise unchanged.
  static func replacing(storeIn text: String, with store: String) -> String {
    setting("store", quoted(store), in: text)
  }

  /// A configuration that allows sending logs, from one that does not state a consent.
  static func consentingToLogs(_ text: String) -> String {
    setting("consent", Consent.logs.rawValue, in: text)
  }

  /// A configuration that allows plain `http` to other machines, otherwise unchanged.
  static func allowingPlaintext(_ text: String) -> String {
    setting("allow-plaintext", "true", in: text)
  }

  /// A configuration with a value for a key in a section, otherwise unchanged.
  ///
  /// - Returns: nil if the section is written in one line, which is left to its author.
  static func setting(_ one: SavedCredentials.Setting, in text: String) -> String? {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    func blanks(_ line: String) -> String { String(line.prefix { $0 == " " }) }
    guard let start = lines.firstIndex(where: { $0.hasPrefix("\(one.section):") }) else {
      let end = lines.last?.isEmpty == true ? lines.count - 1 : lines.count
      lines.insert(contentsOf: ["\(one.section):", "  \(one.key): \(quoted(one.value))"], at: end)
      return lines.joined(separator: "\n")
    }
    let rest = lines[start].dropFirst(one.section.count + 1).drop { $0 == " " }
    guard rest.isEmpty || rest.hasPrefix("#") else { return nil }
    let end =
      lines[(start + 1)...].firstIndex { !$0.isEmpty && !$0.hasPrefix(" ") && !$0.hasPrefix("#") }
      ?? lines.count
    let body = start + 1..<end
    let words = lines.map { $0.drop { $0 == " " } }
    let indentation =
      body.first { !words[$0].isEmpty && !words[$0].hasPrefix("#") }.map { blanks(lines[$0]) }
      ?? "  "
    let line = "\(indentation)\(one.key): \(quoted(one.value))"
    let index =
      body.first { words[$0].hasPrefix("\(one.key):") }
      ?? body.first { words[$0].hasPrefix("#\(one.key):") }
    if let index { lines[index] = line } else { lines.insert(line, at: start + 1) }
    return lines.joined(separator: "\n")
  }

  /// A configuration with a value for a key: in its line, else in the line where it is commented
  /// out, else in a new first line.
  private static func setting(_ key: String, _ value: String, in text: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let line = "\(key): \(value)"
    let index =
      lines.firstIndex { $0.hasPrefix("\(key):") } ?? lines.firstIndex { $0.hasPrefix("#\(key):") }
    if let index {
      lines[index] = line
    } else {
      lines.insert(line, at: 0)
    }
    return lines.joined(separator: "\n")
  }
}
