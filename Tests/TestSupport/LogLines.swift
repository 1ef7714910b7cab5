import LogRecords
package import Logging
import Synchronization

/// Keeps a logger's lines, `level message`, for a test.
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

  /// Starts without lines.
  package init() {}

  /// A logger with a level whose lines are kept here.
  package func logger(_ level: Logger.Level) -> Logger {
    Logger(label: "test") { _ in handler(level) }
  }

  /// The handler of such a logger.
  package func handler(_ level: Logger.Level) -> any LogHandler {
    Handler(lines: self, logLevel: level)
  }

  /// The lines so far.
  package var all: [String] { state.withLock { $0 } }
}
