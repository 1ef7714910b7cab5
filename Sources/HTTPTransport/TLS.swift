import Foundation

/// Whom to trust, and as whom to appear, where the connection is `https`.
///
/// Certificates and keys are held as the bytes of PEM files, not as paths: a worker may run with the
/// rights of another user than the one that opened the store.
package struct TLS: Sendable, CustomStringConvertible, CustomReflectable {
  /// The versions of TLS that may be asked for.
  package enum Version: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 or later.
    case v12 = "1.2"
    /// TLS 1.3 or later.
    case v13 = "1.3"
  }

  /// The certificate authorities to trust instead of the system's, as PEM.
  package var authorities: [UInt8]?
  /// The certificate to show when the server wants one, as PEM; its chain may follow.
  package var clientCertificate: [UInt8]?
  /// The certificate's private key, as PEM and not encrypted.
  package var clientKey: [UInt8]?
  /// The public keys of which the server must have one: `sha256//BASE64`, several with `;` between.
  ///
  /// As libcurl's `CURLOPT_PINNEDPUBLICKEY`; checked on top of the certificate.
  package var pinnedKey: String?
  /// The oldest version that is accepted.
  package var minimumVersion = Version.v12

  /// Makes the default: the system's authorities, no client certificate.
  package init() {}

  /// A fixed text: there may be a private key.
  package var description: String { "TLS(…)" }
  /// Nothing: there may be a private key.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TLS {
  /// Whether a text has the form of ``pinnedKey``.
  package static func isPinnedKey(_ text: String) -> Bool {
    let keys = text.split(separator: ";", omittingEmptySubsequences: false)
    return !keys.isEmpty
      && keys.allSatisfy { key in
        key.hasPrefix("sha256//") && Data(base64Encoded: String(key.dropFirst(8)))?.count == 32
      }
  }
}
