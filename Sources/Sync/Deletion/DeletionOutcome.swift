package import SessionLog

/// The result of a deletion.
package struct DeletionOutcome: Sendable {
  /// The session; nil if it is not a single session's.
  package let session: SessionID?
  /// The deleted object or file, for a person.
  package let what: String
  /// Why it still exists; nil if it is gone.
  package let error: (any Error)?

  init(_ session: SessionID?, _ what: String, _ error: (any Error)? = nil) {
    (self.session, self.what, self.error) = (session, what, error)
  }
}
