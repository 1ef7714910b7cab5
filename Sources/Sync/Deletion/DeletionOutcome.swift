package import SessionLog

/// What became of something that was to be deleted.
package struct DeletionOutcome: Sendable {
  /// The session; nil for what is no single session's.
  package let session: SessionID?
  /// What it is, for a person.
  package let what: String
  /// Why it is still there; nil when it is gone.
  package let error: (any Error)?

  init(_ session: SessionID?, _ what: String, _ error: (any Error)? = nil) {
    (self.session, self.what, self.error) = (session, what, error)
  }
}
