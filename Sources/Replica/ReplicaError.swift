/// Why a session's two copies cannot be proven equal.
package struct ReplicaError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind.
  package enum Code: Sendable, Equatable {
    /// The local log is shorter than, or differs from, the sent stream.
    case localLogChanged
    /// Bytes of the stream are missing remotely.
    case missingBytes
    /// Bytes of the stream are in no copy; what follows them was sent.
    case lostBytes
    /// An object's content does not match its name, or objects contradict each other.
    case damagedObject
    /// The session in the store is another user's.
    case foreignSession
    /// The stream is longer than names have digits for.
    case tooLong
    /// The store uses a later version of the format.
    case unsupportedFormat
  }

  /// The kind.
  package let code: Code
  /// The finding, with names and offsets.
  package let detail: String

  /// Makes an error.
  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  /// One line for a person.
  package var description: String { detail }
}
