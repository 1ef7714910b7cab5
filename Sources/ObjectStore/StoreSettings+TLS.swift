import Foundation
import HTTPTransport

extension StoreSettings {
  private static let maximumBytes = 16 << 20

  /// The settings for TLS, with the files read.
  ///
  /// - Throws: `configuration` that names the setting, for an unreadable or wrong file, a key with
  ///   a password, and one half of certificate and key.
  func tls() throws -> TLS {
    var tls = TLS()
    tls.minimumVersion = minimumTLS
    tls.pinnedKey = pinnedKey
    tls.authorities = try caFile.map { try Self.pem($0, "ca-file", holding: "CERTIFICATE") }
    guard let certificate = clientCertificateFile else {
      guard clientKeyFile == nil else {
        throw Self.refused("there is client-key, but no client-certificate", "Set both.")
      }
      return tls
    }
    tls.clientCertificate = try Self.pem(
      certificate, "client-certificate", holding: "CERTIFICATE")
    tls.clientKey = try Self.pem(
      clientKeyFile ?? certificate, "client-key", holding: "PRIVATE KEY")
    return tls
  }

  private static func pem(_ path: String, _ setting: String, holding what: String) throws -> [UInt8]
  {
    guard let content = try? ConfiguredFile(path).content(limit: maximumBytes) else {
      throw refused("the file \(path) cannot be read", "Correct \(setting).")
    }
    let data = Data(content)
    let titles = titles(of: data)
    guard titles.contains(where: { $0.hasSuffix(what) }) else {
      throw refused("there is no \(what) in PEM form in \(path)", "Correct \(setting).")
    }
    let isEncrypted =
      titles.contains("ENCRYPTED PRIVATE KEY")
      || data.range(of: Data("Proc-Type: 4,ENCRYPTED".utf8)) != nil
    if what == "PRIVATE KEY", isEncrypted {
      throw refused(
        "the private key in \(path) has a password, which cannot be typed in",
        "Set client-key to a file without one: openssl pkey -in FILE -out NEW, mode 0600.")
    }
    return content
  }

  /// The titles between `-----BEGIN ` and `-----`.
  private static func titles(of data: Data) -> [String] {
    String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
      guard line.hasPrefix("-----BEGIN ") else { return nil }
      return String(line.dropFirst(11).prefix { $0 != "-" })
    }
  }

  private static func refused(_ what: String, _ advice: String) -> StoreError {
    StoreError(.configuration, operation: "open", target: "tls", response: what, advice: advice)
  }
}
