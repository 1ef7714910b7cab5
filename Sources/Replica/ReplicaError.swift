import Platform

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
    /// Nothing says any more whether the log may be sent.
    case unknownConsent
    /// The session in the store is another user's.
    case foreignSession
    /// The stream is longer than names have digits for.
    case tooLong
    /// The store uses a later version of the format.
    case unsupportedFormat
  }

  /// The kind.
  package let code: Code
  /// The finding, with names and offsets: one escaped line of bounded length.
  package let detail: String

  /// Maximum number of characters of a finding; it may repeat what somebody put into the store.
  private static let longestDetail = 2048

  /// Makes an error.
  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = String(oneLine: detail, limit: Self.longestDetail)
  }

  /// Maximum number of characters of a name of an object in a finding; valid names are shorter.
  private static let longestName = 120

  /// A name of an object that a sidecar states, for a finding.
  package static func name(_ object: String) -> String {
    String(oneLine: object, limit: longestName)
  }

  /// One line for a person.
  package var description: String { detail }
}
