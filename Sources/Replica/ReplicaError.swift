/// What keeps a session's two copies from being proven equal.
package struct ReplicaError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind.
  package enum Code: Sendable, Equatable {
    /// The local log is shorter than, or differs from, what was sent.
    case localLogChanged
    /// Bytes of the stream are missing remotely.
    case missingBytes
    /// An object's content is not what its name says, or objects contradict each other.
    case damagedObject
    /// The store has the session as another user's.
    case foreignSession
    /// The stream is longer than names have digits for.
    case tooLong
    /// A later version of the format is in use there.
    case unsupportedFormat
  }

  /// The kind.
  package let code: Code
  /// What was found, with names and offsets.
  package let detail: String

  /// Makes an error.
  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  /// One line for a person.
  package var description: String { detail }
}
