import Platform

/// Why sessions, or a session's log, cannot be read as requested.
package struct ReadingError: Error, Sendable, CustomStringConvertible {
  /// The kind.
  package enum Code: Sendable {
    /// It is missing, or not available in a requested form: other options help.
    case unfit
    /// It would be in a store, and none is configured.
    case noStore
    /// It was not sent, because the consent is `metadata`.
    case withheld
    /// It changed during the read.
    case changed
    /// The store's data is inconsistent.
    case damaged
    /// The file cannot be written.
    case output
  }

  /// The kind.
  package let code: Code
  /// One escaped line for a person, with the next step.
  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = String(oneLine: description)
  }

  /// All sessions of an export are damaged.
  static let noneReadable = ReadingError(
    .damaged, "none of the sessions can be read: nothing is written")
}
