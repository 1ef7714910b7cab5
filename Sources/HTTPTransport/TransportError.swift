/// Why no HTTP answer came, or not a whole one.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  package enum Code: String, Sendable, Hashable {
    /// The host name (or the proxy's) has no address.
    case unresolvable
    /// No connection could be made.
    case unreachable
    /// Connecting took too long, or nothing moved for too long.
    case timedOut
    /// The server's certificate or its TLS was refused.
    case tls
    /// The proxy refuses the request: the message tells its status.
    case proxy
    /// As many requests as are allowed have been sent.
    case exhausted
    /// The task was cancelled, or the transport shut down.
    case cancelled
    /// The answer is larger than the request allows.
    case tooLarge
    /// The URL or a header cannot be sent.
    case invalidURL
    /// The connection broke in the middle.
    case interrupted
    /// Anything else.
    case other
  }

  /// The kind of failure.
  package let code: Code
  /// What libcurl says of it; holds no login.
  package let message: String
  /// What is wrong with the TLS connection, when `code` is `tls`.
  package let tlsFault: TLSFault?

  /// Makes an error.
  package init(_ code: Code, _ message: String, tlsFault: TLSFault? = nil) {
    self.code = code
    self.message = message
    self.tlsFault = tlsFault
  }

  /// The kind and the message.
  package var description: String { "\(code.rawValue): \(message)" }
}
