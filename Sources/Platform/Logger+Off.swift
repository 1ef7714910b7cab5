package import Logging

extension Logger {
  /// A logger that drops everything, at almost no cost: its level is above everything that is
  /// logged.
  ///
  /// Never the handler that a program has bootstrapped for itself: an application that records its
  /// own log with Tidemark would then record, and upload, messages about its uploads.
  package static var off: Logger {
    Logger(label: "tidemark") { _ in SwiftLogNoOpLogHandler() }
  }
}
