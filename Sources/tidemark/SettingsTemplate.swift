/// The configuration that `init` writes: the keys in use, and all others commented out with their
/// defaults.
enum SettingsTemplate {
  /// The text for a store, with what the environment said about it where cron will not see it;
  /// secrets stay where they are.
  static func text(store: String, environment: [String: String]) -> String {
    func line(_ key: String, _ variables: String..., usually example: String = "") -> String {
      let found = variables.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
      if let found { return "  \(key): \(quoted(found))" }
      return example.isEmpty ? "  #\(key):" : "  #\(key): \(example)"
    }
    return """
      # Tidemark's configuration. Environment variables override it; see tidemark(1).

      # Where logs go: s3://bucket/prefix, https://host/dav/folder or file:///folder.
      store: \(quoted(store))
      # What may leave this machine: none or logs.
      consent: logs

      # Requests under way at once, 1 to 64.
      #transfers: 4
      # 'status' and cron complain when nothing could be sent for so long.
      #stale-after: 1h
      # When logs are made durable against a power loss: always, never, or an interval.
      #fsync: 1s
      # Bytes from which on a session's log is rotated, its parts compressed: 500K, 10M; 0 for never.
      #rotate-at: 10000000
      # A PEM file with the certificate authorities to trust instead of the system's.
      #ca-file:
      # By default what the environment says.
      #proxy:
      #connect-timeout: 15s
      # A request without progress is given up after this.
      #stall-timeout: 30s

      # How long sessions are kept here and in the store; 'local-max' caps the disk: 500M, 2G.
      # 'prune-after' removes older rotated parts here that the store has whole: 24h; by default none.
      retention:
        #local: 7d
        #remote: 30d
        #local-max:
        #prune-after:

      # Logs that other programs write, as sessions. $1 is what the first * stands for.
      sources:
        #- path: /var/log/app/**
        #  exclude: ['*.tmp']
        #  app: app
        #  user: www-data
        #  category: web
        #  idle-end: 1d
        #  follow-links: false

      # cron has no login environment: name a file (mode 0600) that holds the password.
      webdav:
      \(line("user", "TIDEMARK_WEBDAV_USER"))
      \(line("password-file", "TIDEMARK_WEBDAV_PASSWORD_FILE"))

      # Without these, the AWS environment variables and profile files count. An endpoint is for
      # services other than AWS, and has the bucket in the path unless 'path-style' is false.
      s3:
      \(line("endpoint", "AWS_ENDPOINT_URL", usually: "https://minio.example:9000"))
      \(line("region", "AWS_REGION", "AWS_DEFAULT_REGION", usually: "us-east-1"))
      \(line("profile", "AWS_PROFILE"))
        #path-style: true
        #access-key-id:
        #secret-access-key-file:

      """
  }

  /// A value as YAML, whatever stands in it.
  private static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0)
        || "/._-@%+:".utf8.contains($0)
    }
    if plain && text.first?.isLetter == true && text.last != ":" { return text }
    return "'" + text.replacing("'", with: "''") + "'"
  }

  /// An existing configuration with another store, everything else as it was.
  static func replacing(storeIn text: String, with store: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (key, value) in [("store", quoted(store)), ("consent", "logs")] {
      let line = "\(key): \(value)"
      if let index = lines.firstIndex(where: { $0.hasPrefix("\(key):") }) {
        lines[index] = line
      } else {
        lines.insert(line, at: 0)
      }
    }
    return lines.joined(separator: "\n")
  }
}
