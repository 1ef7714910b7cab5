import Foundation
import Platform

/// Why a store operation failed: what was tried, on what, what came back, what to do.
///
/// Texts from the other side are bounded and their control characters escaped when the error is
/// made. No credentials are ever part of it.
package struct StoreError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  package enum Code: String, Sendable, Hashable, CaseIterable, Codable {
    /// The object does not exist.
    case notFound
    /// The login was refused: wrong, missing or expired credentials, or no right to do this.
    case authentication
    /// Something the user has set is wrong: URL, bucket, endpoint, certificate, half credentials.
    case configuration
    /// Likely to go away by itself: a connection that broke, a passing fault of the server.
    case transient
    /// Other bytes arrived than were sent, and the server noticed.
    case damaged
    /// The server asks for fewer requests.
    case overloaded
    /// No connection could be made: the network is down, or the host is.
    case unreachable
    /// The store has no room left.
    case full
    /// The body is larger than the store takes.
    case tooLarge
    /// The answer is garbage or contradicts itself.
    case integrity
    /// Something else is in the way: a lock, a condition, a folder where an object should be.
    case conflict
    /// As many requests as one pass may send have been sent.
    case exhausted
    /// The task was cancelled.
    case cancelled
    /// The store cannot do this, or the key is not one.
    case unsupported
    /// Anything else.
    case other
  }

  /// The kind of failure.
  package let code: Code
  /// What was tried, such as `PUT`.
  package let operation: String
  /// The key or URL, without credentials.
  package let target: String
  /// What came back, such as `403 SignatureDoesNotMatch: ...`.
  package let response: String
  /// What the user should do next: one sentence, or empty.
  package let advice: String
  /// How long the server asked to wait.
  package let retryAfter: Duration?

  /// Makes an error; bounds and escapes its texts.
  package init(
    _ code: Code, operation: String, target: String, response: String, advice: String = "",
    retryAfter: Duration? = nil
  ) {
    self.code = code
    self.operation = operation
    self.target = String(oneLine: target, limit: 1024)
    self.response = String(oneLine: response, limit: 400)
    self.advice = advice
    self.retryAfter = retryAfter
  }

  /// Whether trying again later may succeed.
  package var isTransient: Bool {
    [.transient, .damaged, .overloaded, .unreachable].contains(code)
  }

  /// Whether the login itself was refused, and not one right that it lacks.
  package var refusesLogin: Bool {
    guard code == .authentication else { return false }
    let signs = [
      "401", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
      "InvalidClientTokenId",
    ]
    return signs.contains { response.contains($0) }
  }

  /// Whether nothing more is to be tried in this pass.
  package var endsPass: Bool { code == .cancelled || code == .exhausted }

  /// Whether the object does not exist.
  package var isNotFound: Bool { code == .notFound }

  /// The error as one line: what was tried, on what, what came back, and the advice.
  package var description: String {
    let head = "\(operation) \(target): \(response)"
    guard !advice.isEmpty else { return head }
    return head.hasSuffix(".") ? "\(head) \(advice)" : "\(head). \(advice)"
  }
}
