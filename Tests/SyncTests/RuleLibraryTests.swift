import Redaction
import Replica
import TestSupport
import Testing

@testable import Sync

@Suite struct RuleLibraryTests {
  /// A version must never stand for other rules: they would no longer mask what was sent as it was
  /// sent.
  @Test func `the version of the built-in rules is theirs`() throws {
    let version = try RedactionRules().version()
    #expect(RuleLibrary.standardVersion == version)
  }
}
