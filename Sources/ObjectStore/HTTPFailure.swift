import Foundation
import HTTPTransport

/// Turns what a server or the transport said into a `StoreError`.
struct HTTPFailure {
  let operation: String
  let target: String

  /// The error that an answer means, apart from what only S3's codes can say.
  func error(_ response: HTTPResponse, detail: String = "") -> StoreError {
    let (code, advice) = Self.meaning(response.status)
    return error(response, code, detail: detail, advice: advice)
  }

  /// An error with a meaning that the caller knows better.
  func error(_ response: HTTPResponse, _ code: StoreError.Code, detail: String, advice: String)
    -> StoreError
  {
    StoreError(
      code, operation: operation, target: target,
      response: detail.isEmpty ? "\(response.status)" : "\(response.status) \(detail)",
      advice: advice, retryAfter: Self.retryAfter(response))
  }

  /// The error for an answer that makes no sense.
  func garbage(_ response: HTTPResponse, _ why: String) -> StoreError {
    error(
      response, .integrity, detail: why,
      advice: "Check that the URL is that of the store and not of a web page in front of it.")
  }

  /// The error for no answer.
  func error(_ error: TransportError) -> StoreError {
    let code: StoreError.Code
    let advice: String
    switch error.code {
    case .unresolvable, .unreachable, .timedOut, .interrupted:
      (code, advice) = (.transient, "Check the host name and the network.")
    case .tls:
      code = .configuration
      advice = "Check the server's certificate; set ca-file when its authority is your own."
    case .cancelled: (code, advice) = (.cancelled, "")
    case .tooLarge: (code, advice) = (.integrity, "The answer is larger than any the store gives.")
    case .invalidURL: (code, advice) = (.configuration, StoreURL.acceptedForms)
    case .other: (code, advice) = (.other, "Check the network, the proxy and the ca-file.")
    }
    return StoreError(
      code, operation: operation, target: target, response: error.message, advice: advice)
  }

  private static func meaning(_ status: Int) -> (StoreError.Code, String) {
    switch status {
    case 404, 410: (.notFound, "")
    case 401: (.authentication, "Check the user name and the password.")
    case 403: (.authentication, "Check the login and its right to do this.")
    case 407: (.configuration, "Put the login of the proxy into its URL.")
    case 409, 412: (.conflict, "Something else is in the way; look at the store.")
    case 413: (.tooLarge, "Raise the size limit of the server.")
    case 507: (.full, "Free some space on the store.")
    // Before the other 5xx: what a server does not know, it will not know later.
    case 405, 501: (.unsupported, "The server does not know this request; check the URL.")
    case 408, 423, 425, 429, 500...506, 508...599: (.transient, "Try again later.")
    case 300..<400: (.configuration, "The server points elsewhere; correct store:.")
    default: (.other, "")
    }
  }

  /// The seconds to wait that an answer asks for: a number or a date.
  private static func retryAfter(_ response: HTTPResponse) -> TimeInterval? {
    guard let value = response.header("Retry-After") else { return nil }
    if let seconds = Double(value) { return seconds.isFinite ? max(0, seconds) : nil }
    let now = response.header("Date").flatMap(HTTPDate.parse) ?? Date()
    return HTTPDate.parse(value).map { max(0, $0.timeIntervalSince(now)) }
  }
}
