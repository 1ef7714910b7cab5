import Foundation

/// The trusted authorities and the client certificate for `https` connections.
///
/// Certificates and keys are stored as the bytes of PEM files instead of paths: a worker may run
/// with the rights of another user than the one that opened the store.
package struct TLS: Sendable, CustomStringConvertible, CustomReflectable {
  /// The selectable versions of TLS.
  package enum Version: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 or later.
    case v12 = "1.2"
    /// TLS 1.3 or later.
    case v13 = "1.3"
  }

  /// The certificate authorities to trust instead of the system's, as PEM.
  package var authorities: [UInt8]?
  /// The certificate for servers that require one, as PEM; its chain may follow.
  package var clientCertificate: [UInt8]?
  /// The certificate's private key, as unencrypted PEM.
  package var clientKey: [UInt8]?
  /// The accepted public keys of the server: `sha256//BASE64`, several separated by `;`.
  ///
  /// As in libcurl's `CURLOPT_PINNEDPUBLICKEY`; checked in addition to the certificate.
  package var pinnedKey: String?
  /// The oldest accepted version.
  package var minimumVersion = Version.v12

  /// Makes the default: the system's authorities, no client certificate.
  package init() {}

  /// A fixed text: the value may contain a private key.
  package var description: String { "TLS(…)" }
  /// An empty mirror: the value may contain a private key.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TLS {
  /// Whether text has the form of ``pinnedKey``.
  package static func isPinnedKey(_ text: String) -> Bool {
    let keys = text.split(separator: ";", omittingEmptySubsequences: false)
    return !keys.isEmpty
      && keys.allSatisfy { key in
        key.hasPrefix("sha256//") && Data(base64Encoded: String(key.dropFirst(8)))?.count == 32
      }
  }
}
