import Foundation
import Platform

/// Why a store operation failed: the operation, its target, the response, and advice.
///
/// Texts from the server are bounded and their control characters escaped on creation. It never
/// contains credentials.
package struct StoreError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// The kinds of failure that callers distinguish.
  package enum Code: String, Sendable, Hashable, CaseIterable, Codable {
    /// The object does not exist.
    case notFound
    /// The login was refused: wrong, missing or expired credentials, or a missing permission.
    case authentication
    /// A setting is wrong: URL, bucket, endpoint, certificate, half of a credential.
    case configuration
    /// Probably temporary: a broken connection, a passing fault of the server.
    case transient
    /// The server noticed that other bytes arrived than were sent.
    case damaged
    /// The server asks for fewer requests.
    case overloaded
    /// No connection could be made: the network is down, or the host is.
    case unreachable
    /// The store has no space left.
    case full
    /// The body is larger than the store accepts.
    case tooLarge
    /// The answer is garbage or contradicts itself.
    case integrity
    /// Something is in the way: a lock, a condition, a folder in place of an object.
    case conflict
    /// The pass has sent its maximum number of requests.
    case exhausted
    /// The task was cancelled.
    case cancelled
    /// The store cannot do this, or the key is invalid.
    case unsupported
    /// Anything else.
    case other
  }

  /// The kind of failure.
  package let code: Code
  /// The operation, such as `PUT`.
  package let operation: String
  /// The key or URL, without credentials.
  package let target: String
  /// The response, such as `403 SignatureDoesNotMatch: ...`.
  package let response: String
  /// The user's next step: one sentence, or empty.
  package let advice: String
  /// The wait that the server asked for.
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

  /// Whether a later attempt may succeed.
  package var isTransient: Bool {
    [.transient, .damaged, .overloaded, .unreachable].contains(code)
  }

  /// Whether the login itself was refused, rather than one permission.
  package var refusesLogin: Bool {
    guard code == .authentication else { return false }
    let signs = [
      "401", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
      "InvalidClientTokenId",
    ]
    return signs.contains { response.contains($0) }
  }

  /// Whether the pass must not try anything more.
  package var endsPass: Bool { code == .cancelled || code == .exhausted }

  /// Whether the object does not exist.
  package var isNotFound: Bool { code == .notFound }

  /// The error as one line: operation, target, response, and advice.
  package var description: String {
    let head = "\(operation) \(target): \(response)"
    guard !advice.isEmpty else { return head }
    return head.hasSuffix(".") ? "\(head) \(advice)" : "\(head). \(advice)"
  }
}
