/// The cause of a TLS failure, as far as libcurl and OpenSSL report it.
package enum TLSFault: String, Sendable, Hashable, CaseIterable {
  /// No trusted authority has signed the server's certificate.
  case untrusted
  /// The server's certificate is no longer valid, or not yet.
  case expired
  /// The server's certificate names other hosts.
  case otherHost
  /// The server's public key is not the pinned one.
  case otherKey
  /// The server requires a client certificate, or a different one.
  case clientCertificateWanted
  /// The client certificate or its key cannot be used.
  case clientCertificateUnusable
  /// The certificate authorities cannot be read.
  case authoritiesUnreadable
  /// The two sides have no version of TLS, or no cipher, in common.
  case version
  /// Anything else.
  case other

  /// Reads libcurl's message: its result codes alone are too unspecific.
  init(_ message: String, else fallback: TLSFault = .other) {
    let text = message.lowercased()
    // Phrases of OpenSSL, and those of the alerts of RFC 8446, section 6.2.
    let words: [(TLSFault, [String])] = [
      (.otherKey, ["public key does not match pinned"]),
      (.expired, ["has expired", "not yet valid"]),
      (.otherHost, ["subject name", "hostname mismatch", "does not match target"]),
      (.untrusted, ["issuer certificate", "self-signed", "self signed", "verify the first"]),
      (
        .clientCertificateWanted,
        [
          "certificate required", "alert bad certificate", "alert certificate unknown",
          "alert unknown ca", "alert handshake failure", "alert certificate expired",
          "alert access denied",
        ]
      ),
      (
        .version,
        [
          "protocol version", "unsupported protocol", "wrong version number", "no protocols",
          "no ciphers", "no shared cipher",
        ]
      ),
    ]
    self = words.first { $0.1.contains(where: text.contains) }?.0 ?? fallback
  }
}
