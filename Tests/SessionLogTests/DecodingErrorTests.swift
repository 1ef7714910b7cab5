import Foundation
import TestSupport
import Testing

@testable import SessionLog

/// What a person reads about a damaged sidecar.
@Suite(.tags(.small)) struct DecodingErrorTests {
  @Test(arguments: [
    ("{", "The given data was not valid JSON."),
    (#"{"sessionId": 7}"#, "'sessionId' is not a String"),
    (#"{"sessionId": "x"}"#, "'sessionId' is wrong: not a session id"),
    ("{}", "is missing"),
    (#"{"sessionId": null}"#, "'sessionId' is null"),
  ]) func `names the member and the fault in one line`(json: String, expected: String) throws {
    do {
      _ = try Sidecar(json: Array(json.utf8))
      Issue.record("decoded \(json)")
    } catch let error as DecodingError {
      #expect(error.summary.hasSuffix(expected), "\(error.summary)")
      #expect(!error.summary.contains("\n") && !error.summary.contains("Debug"))
    }
  }
}
