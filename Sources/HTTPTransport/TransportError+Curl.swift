import CCurl

extension TransportError {
  /// The error for a libcurl result.
  ///
  /// - Parameters:
  ///   - result: libcurl's result code.
  ///   - message: libcurl's message.
  ///   - proxyStatus: The proxy's answer to CONNECT; 0 for none.
  init(_ result: CURLcode, _ message: String, proxyStatus: Int = 0) {
    let code: Code
    var fault: TLSFault?
    switch result {
    case _ where proxyStatus >= 300: code = .proxy
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: code = .unresolvable
    case CURLE_COULDNT_CONNECT: code = .unreachable
    case CURLE_OPERATION_TIMEDOUT: code = .timedOut
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: code = .invalidURL
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
      CURLE_SSL_INVALIDCERTSTATUS:
      (code, fault) = (.tls, TLSFault(message, else: .untrusted))
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: (code, fault) = (.tls, .otherKey)
    case CURLE_SSL_CERTPROBLEM: (code, fault) = (.tls, .clientCertificateUnusable)
    case CURLE_SSL_CACERT_BADFILE: (code, fault) = (.tls, .authoritiesUnreadable)
    case CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED: (code, fault) = (.tls, TLSFault(message))
    case CURLE_SSL_CONNECT_ERROR:
      // OpenSSL's phrases for a connection that breaks during the handshake, the same everywhere.
      let isBroken = ["SSL_ERROR_SYSCALL", "reset by peer", "unexpected eof"].contains {
        message.contains($0)
      }
      (code, fault) = isBroken ? (.interrupted, nil) : (.tls, TLSFault(message))
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
      // With TLS 1.3 the server refuses a certificate only after the handshake.
      let alert = TLSFault(message)
      (code, fault) = alert == .clientCertificateWanted ? (.tls, alert) : (.interrupted, nil)
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY, CURLE_SEND_FAIL_REWIND:
      code = .interrupted
    default: code = .other
    }
    self.init(code, Self.withoutLogin(message), tlsFault: fault)
  }

  /// A message without the login in a proxy's URL, which libcurl repeats if it is malformed.
  private static func withoutLogin(_ message: String) -> String {
    guard let at = message.lastIndex(of: "@") else { return message }
    // A password may contain anything, even white space and quotes.
    let start = message[..<at].firstIndex { $0 == "'" || $0 == "\"" }
    let from = start.map(message.index(after:)) ?? message.startIndex
    return message[..<from] + "(login)" + message[at...]
  }
}
