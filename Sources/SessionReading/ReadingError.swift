/// Why a session's log cannot be read as asked.
package struct ReadingError: Error, Sendable, CustomStringConvertible {
  /// The kind.
  package enum Code: Sendable {
    /// It is not there, or in no form that was asked for: other options help.
    case unfit
    /// It was not sent, as the consent is `metadata`.
    case withheld
    /// It changed while it was read.
    case changed
    /// What the store says of it cannot be.
    case damaged
    /// The file cannot be written.
    case output
  }

  /// The kind.
  package let code: Code
  /// One line for a person, with the next step.
  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
