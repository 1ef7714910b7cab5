import CCurl

extension TransportError {
  /// The failure that a libcurl result means.
  init(_ result: CURLcode, _ message: String) {
    let code: Code
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: code = .unresolvable
    case CURLE_COULDNT_CONNECT: code = .unreachable
    case CURLE_OPERATION_TIMEDOUT: code = .timedOut
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: code = .invalidURL
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_USE_SSL_FAILED,
      CURLE_SSL_INVALIDCERTSTATUS:
      code = .tls
    case CURLE_SSL_CONNECT_ERROR:
      // OpenSSL says a connection that breaks during the handshake in the same words everywhere.
      let isBroken = ["SSL_ERROR_SYSCALL", "reset by peer", "unexpected eof"].contains {
        message.contains($0)
      }
      code = isBroken ? .interrupted : .tls
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE,
      CURLE_WEIRD_SERVER_REPLY, CURLE_SEND_FAIL_REWIND:
      code = .interrupted
    default: code = .other
    }
    self.init(code, message)
  }
}
