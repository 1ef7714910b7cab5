package import ObjectStore
package import Platform

/// The metrics of a home.
package struct DeviceMetrics: Sendable, Equatable, Codable {
  /// The home's user; nil unless the machine is in machine-wide mode.
  package var user: String?
  /// Whether the home's cache cannot be read: then ``lastSuccess`` is unknown, and ``unsent`` may be
  /// too much.
  package var isCacheUnreadable = false
  /// When something last reached the store.
  package var lastSuccess: Timestamp?
  /// Bytes that were not uploaded, by reason.
  package var unsent: [String: ByteCount] = [:]
  /// Bytes that were sent but are not proven yet.
  package var unproven: ByteCount = 0
  /// Sessions whose proven remote copy is gone.
  package var vanished = 0
  /// Sessions on this machine by state.
  package var sessions: [String: Int] = [:]
  /// Sessions that crashed within 24 hours.
  package var crashes = 0
  /// Whether nothing has reached the store for too long.
  package var isStale = false
  /// Number of uploads' requests so far.
  package var requests = RequestCounts()

  /// Empty metrics.
  package init() {}

  private typealias Sample = (labels: [(String, String)], value: String)

  /// The text for Prometheus's textfile collector.
  package static func text(_ homes: [DeviceMetrics]) -> String {
    var out = ""
    func metric(
      _ name: String, _ kind: String, _ help: String, _ samples: (DeviceMetrics) -> [Sample]
    ) {
      out += "# HELP tidemark_\(name) \(help)\n# TYPE tidemark_\(name) \(kind)\n"
      for home in homes {
        for sample in samples(home) {
          let user = home.user.map { [("user", $0)] } ?? []
          out += "tidemark_\(name)\(labels(user + sample.labels)) \(sample.value)\n"
        }
      }
    }
    metric("last_success_timestamp_seconds", "gauge", "When an upload last succeeded; 0 for never.")
    { home in
      // A success that is unknown is neither one nor none.
      home.isCacheUnreadable ? [] : [([], String((home.lastSuccess?.milliseconds ?? 0) / 1000))]
    }
    metric("cache_unreadable", "gauge", "1 when it is unknown what was sent, and when.") {
      [([], $0.isCacheUnreadable ? "1" : "0")]
    }
    metric("stale", "gauge", "1 when nothing could be sent for stale-after.") {
      [([], $0.isStale ? "1" : "0")]
    }
    metric("unsent_bytes", "gauge", "Bytes of logs that were not uploaded, by reason.") { home in
      home.unsent.sorted { $0.key < $1.key }.map { ([("reason", $0.key)], String($0.value.bytes)) }
    }
    metric("unproven_bytes", "gauge", "Bytes that were uploaded and not proven yet.") {
      [([], String($0.unproven.bytes))]
    }
    metric(
      "vanished_sessions", "gauge", "Sessions that were proven in the store and are gone there."
    ) {
      [([], String($0.vanished))]
    }
    metric("sessions", "gauge", "Sessions on this machine by state.") { home in
      home.sessions.sorted { $0.key < $1.key }.map { ([("state", $0.key)], String($0.value)) }
    }
    metric("crashes_24h", "gauge", "Sessions that crashed within 24 hours.") {
      [([], String($0.crashes))]
    }
    metric("requests_total", "counter", "Requests of uploads by kind.") { home in
      home.requests.named.map { ([("kind", $0.name)], String($0.count)) }
    }
    return out
  }

  private static func labels(_ labels: [(String, String)]) -> String {
    guard !labels.isEmpty else { return "" }
    let texts = labels.map { name, value in
      let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        .replacing("\n", with: "\\n")
      return "\(name)=\"\(escaped)\""
    }
    return "{\(texts.joined(separator: ","))}"
  }
}
