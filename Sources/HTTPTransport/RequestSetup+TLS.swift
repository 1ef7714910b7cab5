import CCurl

extension RequestSetup {
  /// Sets the options for TLS, to the server and to a proxy.
  func tls(_ tls: TLS) throws(TransportError) {
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    let version = tls.minimumVersion == .v13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
    try set(CURLOPT_SSLVERSION, version)
    if let authorities = tls.authorities {
      try set(CURLOPT_CAINFO_BLOB, authorities)
      try set(CURLOPT_PROXY_CAINFO_BLOB, authorities)
      // Otherwise the system's folder of authorities would be trusted as well.
      try check(ccurl_setopt_str(easy, CURLOPT_CAPATH, nil))
      try check(ccurl_setopt_str(easy, CURLOPT_PROXY_CAPATH, nil))
    }
    if let certificate = tls.clientCertificate, let key = tls.clientKey {
      try set(CURLOPT_SSLCERT_BLOB, certificate)
      try set(CURLOPT_SSLKEY_BLOB, key)
      // Without one, OpenSSL asks for the password of an encrypted key on the terminal.
      try set(CURLOPT_KEYPASSWD, "")
    }
    if let pinnedKey = tls.pinnedKey { try set(CURLOPT_PINNEDPUBLICKEY, pinnedKey) }
  }

  private func set(_ option: CURLoption, _ bytes: [UInt8]) throws(TransportError) {
    let code = bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map { ccurl_setopt_blob(easy, option, $0, bytes.count) }
    }
    guard let code else { throw TransportError(.tls, "a PEM file is empty") }
    try check(code)
  }
}
