import HTTPTransport

/// The result of testing one ability of a store.
package struct ProbeFinding: Sendable, Hashable {
  /// The abilities, in the order of the tests.
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
    /// Lists a new object at once, and a deleted one no longer.
    case listAfterWrite = "LIST-AFTER-WRITE"
    /// Puts under its name only if the name is free.
    case conditional = "CONDITIONAL"
    /// Compares the clocks.
    case clock = "CLOCK"
    /// Puts and reads back an object of the largest size used.
    case largestBody = "LARGEST BODY"
    /// Deletes all test objects.
    case delete = "DELETE"
  }

  /// The result of a check.
  package enum Outcome: String, Sendable, Encodable {
    /// Works as expected.
    case ok
    /// Does not work as expected, but nothing depends on it.
    case note
    /// Does not work.
    case failed
    /// Not tested, because a prerequisite failed.
    case skipped
  }

  /// The ability tested.
  package let check: Check
  /// The result.
  package let outcome: Outcome
  /// The request.
  package let sent: String
  /// The answer, or the problem with it.
  package let received: String
  /// The store's error, if it gave one.
  package let error: StoreError?

  /// The result for a person; states the request if the answer needs it.
  package var summary: String {
    switch (check, outcome) {
    case (_, .skipped), (.clock, .ok), (.clock, .note), (.listAfterWrite, .note): received
    case (.read, .ok), (.list, .ok), (.listAfterWrite, .ok), (.conditional, .ok), (.delete, .ok):
      received
    default: "sent \(sent): \(received)"
    }
  }
}
