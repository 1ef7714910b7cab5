/// Why there is no HTTP answer, or not a complete one.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of failure that callers distinguish.
  package enum Code: String, Sendable, Hashable {
    /// The host name (or the proxy's) cannot be resolved.
    case unresolvable
    /// No connection could be made.
    case unreachable
    /// Connecting took too long, there was no progress for too long, or too little.
    case timedOut
    /// The server's certificate or its TLS was refused.
    case tls
    /// The proxy refused the request; the message states its status.
    case proxy
    /// The maximum number of requests has been sent.
    case exhausted
    /// The task was cancelled, or the transport shut down.
    case cancelled
    /// The answer is larger than the request allows.
    case tooLarge
    /// The URL cannot be sent.
    case invalidURL
    /// A header field cannot be sent.
    case invalidHeader
    /// The connection broke during the transfer.
    case interrupted
    /// Anything else.
    case other
  }

  /// The kind of failure.
  package let code: Code
  /// libcurl's message, without a login.
  package let message: String
  /// The cause of a TLS failure, if `code` is `tls`.
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
