import Foundation
import HTTPTransport
import Platform

/// Converts an answer, or a transport error, into a `StoreError`.
struct HTTPFailure {
  let operation: String
  let target: String
  /// The request's secrets, which the server and everything on the way may repeat.
  var secrets: [String] = []

  /// Masks the request's secrets.
  var mask: SecretMask { SecretMask(known: secrets) }

  /// The only way to an error: whatever its texts come from, they state no secret.
  private func error(
    _ code: StoreError.Code, said: String, advice: String, retryAfter: Duration? = nil
  ) -> StoreError {
    let mask = mask
    return StoreError(
      code, operation: operation, target: mask.maskKnown(target), response: mask.maskHead(of: said),
      advice: mask.maskKnown(advice), retryAfter: retryAfter)
  }

  /// The error for an answer, without knowledge of S3's codes.
  func error(_ response: HTTPResponse, detail: String = "") -> StoreError {
    var (code, advice) = Self.meaning(response.status)
    if response.status == 401, secrets.isEmpty {
      advice = "No login is set: set TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD."
    }
    if [401, 405, 404].contains(response.status) || (300..<400).contains(response.status) {
      advice = WebPageHint.advice(for: target) ?? advice
    }
    let place = Redirection.shown(response).map { "to \($0)" }
    return error(
      response, code, detail: detail.isEmpty ? place ?? said(response) : detail, advice: advice
    )
  }

  /// An error with a code that the caller determined.
  func error(_ response: HTTPResponse, _ code: StoreError.Code, detail: String, advice: String)
    -> StoreError
  {
    error(
      code, said: detail.isEmpty ? "\(response.status)" : "\(response.status) \(detail)",
      advice: advice, retryAfter: Self.retryAfter(response))
  }

  /// The error for a nonsensical answer.
  func garbage(_ response: HTTPResponse, _ why: String) -> StoreError {
    error(
      response, .integrity, detail: why,
      advice: WebPageHint.advice(for: target)
        ?? "Check that the URL is that of the store and not of a web page in front of it.")
  }

  /// The error for an XML answer that cannot be read: one that was cut may be whole another time.
  ///
  /// - Parameter root: the root element of the expected document: the end of another one, such as a
  ///   web page's, may be missing for ever.
  func unreadable(_ response: HTTPResponse, _ xml: XMLError, expecting root: String) -> StoreError {
    let detail = "an XML answer that cannot be read: \(xml.reason)"
    guard xml.isCut, xml.root == nil || xml.root == root else { return garbage(response, detail) }
    return error(
      response, .transient, detail: detail,
      advice:
        "It was cut on the way. Try again later; if it stays so, check the limits of the server "
        + "and of any proxy in front of it.")
  }

  /// The error if there is no answer.
  func error(_ error: TransportError) -> StoreError {
    let code: StoreError.Code
    let advice: String
    switch error.code {
    case .unresolvable, .unreachable:
      (code, advice) = (.unreachable, "Check the host name and the network.")
    case .timedOut, .interrupted: (code, advice) = (.transient, "Check the network.")
    case .tls:
      (code, advice) = (.configuration, Self.advice(error.tlsFault ?? .other))
    case .proxy:
      code = error.message.contains("response 5") ? .unreachable : .configuration
      advice = "Check proxy: and the login in it (http://user:password@host:port)."
    case .exhausted:
      (code, advice) = (.exhausted, "The next pass continues; or raise max-requests.")
    case .cancelled: (code, advice) = (.cancelled, "")
    case .tooLarge: (code, advice) = (.integrity, "The answer is larger than any the store gives.")
    case .invalidURL: (code, advice) = (.configuration, StoreURL.acceptedForms)
    case .invalidHeader:
      code = .configuration
      advice = "Remove control characters, such as a newline, from the login or key of the store."
    case .other: (code, advice) = (.other, "Check the network, the proxy and the ca-file.")
    }
    return self.error(code, said: error.message, advice: advice)
  }

  private static func advice(_ fault: TLSFault) -> String {
    switch fault {
    case .untrusted: "Set ca-file to the certificate of the authority when it is your own."
    case .expired: "Renew the server's certificate, or check this machine's clock."
    case .otherHost: "Write store: with a host name that the server's certificate has."
    case .otherKey: "Somebody else may be answering; if the server has a new key, set pinned-key."
    case .clientCertificateWanted:
      "Set client-certificate and client-key to what the server's administrator gave you."
    case .clientCertificateUnusable:
      "Check client-certificate and client-key: they must belong together, without a password."
    case .authoritiesUnreadable: "Check ca-file: a PEM file with certificates."
    case .version: "Check minimum-tls, and which versions the server speaks."
    case .other: "Check the server's certificate, ca-file, pinned-key and minimum-tls."
    }
  }

  /// The reason in the body of an answer, as Sabre's servers (Nextcloud, ownCloud) write it.
  private func said(_ response: HTTPResponse) -> String {
    guard response.status >= 400, response.body.count <= 65536,
      let root = try? XMLScanner.parse(response.body), root.namespace == "DAV:",
      root.name == "error", let message = root.child("message", in: "http://sabredav.org/ns")
    else { return "" }
    return message.text
  }

  private static func meaning(_ status: Int) -> (StoreError.Code, String) {
    switch status {
    case 404, 410: (.notFound, "")
    case 401:
      (
        .authentication,
        "Check the user name and the password; Nextcloud and ownCloud want an app password."
      )
    case 403: (.authentication, "Check the login and its right to do this.")
    case 407: (.configuration, "Put the login of the proxy into its URL.")
    case 409, 412: (.conflict, "Something else is in the way; look at the store.")
    case 413: (.tooLarge, "Raise the size limit of the server.")
    case 507: (.full, "Free some space on the store.")
    // Before the other 5xx: a request that the server does not know will not succeed later.
    case 405, 501: (.unsupported, "The server does not know this request; check the URL.")
    case 429, 503, 509: (.overloaded, "Try again later, or with fewer transfers at once.")
    case 423: (.transient, "Somebody has locked it; try again later.")
    case 408, 425, 500...506, 508...599: (.transient, "Try again later.")
    case 300..<400:
      (
        .configuration,
        "The server points elsewhere: set store: to that address, if it is a WebDAV folder's."
      )
    default: (.other, "")
    }
  }

  /// The longest plausible wait in seconds, far more than we ever wait.
  private static let longestWait: Double = 1e9

  /// The wait that an answer asks for, as seconds or as a date.
  private static func retryAfter(_ response: HTTPResponse) -> Duration? {
    guard let value = response.header("Retry-After") else { return nil }
    if let seconds = Double(value) {
      return seconds.isFinite ? .seconds(min(max(0, seconds), longestWait)) : nil
    }
    // Use the server's own clock: a date alone does not say how long to wait.
    guard let now = response.header("Date").flatMap(HTTPDate.parse) else { return nil }
    return HTTPDate.parse(value).map { max(.zero, $0 - now) }
  }
}
