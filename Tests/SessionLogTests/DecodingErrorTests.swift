import Foundation
import LogRecords
import Platform
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

  /// An error repeats what it found; `verify` printed all of it.
  @Test(
    arguments: [
      "x\nvictim01  ok  1 MB", "\u{1b}[32mG\u{202e}", "x" + String(repeating: "y", count: 1 << 20),
    ], [true, false])
  func `a value and a name are shown in one escaped line, and cut`(
    _ text: String, isName: Bool
  ) throws {
    do {
      if isName {
        _ = try JSONDecoder().decode([String: Int].self, from: JSONEncoder().encode([text: "a"]))
      } else {
        _ = try JSONDecoder().decode([LogFormat].self, from: JSONEncoder().encode([text]))
      }
      Issue.record("decoded '\(text.prefix(20))'")
    } catch let error as DecodingError {
      let summary = error.summary
      #expect(!summary.unicodeScalars.contains { $0.isInvisible })
      #expect(summary.unicodeScalars.count < 600)
      #expect(summary.hasSuffix("is not a Int") == isName)
    }
  }
}
