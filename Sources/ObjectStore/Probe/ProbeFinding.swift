import HTTPTransport

/// What trying one ability of a store has shown.
package struct ProbeFinding: Sendable, Hashable {
  /// The abilities, in the order in which they are tried.
  package enum Check: String, Sendable, CaseIterable, Encodable {
    /// Puts an object.
    case create = "CREATE"
    /// Reads it back.
    case read = "READ"
    /// Reads parts of it.
    case range = "RANGE"
    /// Puts other bytes under its name.
    case overwrite = "OVERWRITE"
    /// Lists its folder.
    case list = "LIST"
    /// Lists at once what was put, and no longer what was deleted.
    case listAfterWrite = "LIST-AFTER-WRITE"
    /// Puts under its name only if nothing is there.
    case conditional = "CONDITIONAL"
    /// Compares the clocks.
    case clock = "CLOCK"
    /// Puts and reads back an object as large as any.
    case largestBody = "LARGEST BODY"
    /// Deletes everything again.
    case delete = "DELETE"
  }

  /// How it went.
  package enum Outcome: String, Sendable, Encodable {
    /// As it should.
    case ok
    /// Otherwise, but nothing depends on it.
    case note
    /// It does not work.
    case failed
    /// Not tried, because what it needs failed.
    case skipped
  }

  /// What was tried.
  package let check: Check
  /// How it went.
  package let outcome: Outcome
  /// What was sent.
  package let sent: String
  /// What came back, or what is wrong with it.
  package let received: String
  /// Why it failed, where the store said so.
  package let error: StoreError?
}
