import LogRecords
package import Logging
import Synchronization

/// A logger's lines, `level message`, kept for a test.
package final class LogLines: Sendable {
  private struct Handler: LogHandler {
    let lines: LogLines
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.state.withLock { $0.append("\(event.level) \(event.message)") }
    }
  }

  private let state = Mutex<[String]>([])

  /// Keeps no lines yet.
  package init() {}

  /// A logger of a level whose lines come here.
  package func logger(_ level: Logger.Level) -> Logger {
    Logger(label: "test") { _ in handler(level) }
  }

  /// What such a logger writes with.
  package func handler(_ level: Logger.Level) -> any LogHandler {
    Handler(lines: self, logLevel: level)
  }

  /// The lines so far.
  package var all: [String] { state.withLock { $0 } }
}
