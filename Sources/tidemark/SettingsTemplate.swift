/// The configuration that `init` writes: the keys in use, and all others commented out.
enum SettingsTemplate {
  static func text(store: String) -> String {
    """
    # Tidemark's configuration. Environment variables override it; see 'tidemark --help'.

    # Where logs go: s3://bucket/prefix, https://host/dav/folder or file:///folder.
    store: \(store)
    # What may leave this machine: none or logs.
    consent: logs

    # Requests under way at once.
    #transfers: 4
    # 'status' and cron complain when nothing could be sent for so long.
    #stale-after: 1h
    # When logs are made durable against a power loss: always, never, or an interval.
    #fsync: 1s
    # A PEM file with the certificate authorities to trust instead of the system's.
    #ca-file:
    #proxy:
    #connect-timeout: 15s
    # A request without progress is given up after this.
    #stall-timeout: 30s

    #retention:
    #  local: 7d
    #  remote: 30d
    #  local-max: 2G

    # cron has no login environment: name a file (mode 0600) that holds the password.
    #webdav:
    #  user:
    #  password-file:

    # Without these, the AWS environment variables and profile files count.
    #s3:
    #  endpoint: https://minio.example:9000
    #  region: us-east-1
    #  profile:
    #  path-style: true
    #  access-key-id:
    #  secret-access-key-file:

    """
  }

  /// An existing configuration with another store, everything else as it was.
  static func replacing(storeIn text: String, with store: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (key, value) in [("store", store), ("consent", "logs")] {
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
