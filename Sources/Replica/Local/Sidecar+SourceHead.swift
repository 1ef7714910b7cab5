import Crypto
import ObjectStore
import Platform
package import SessionLog

extension Sidecar.Source {
  /// The value of ``SessionLog/Sidecar/Source/headHash`` for a file's first bytes.
  package static func headHash(of head: some Collection<UInt8>) -> String {
    Hex.text(SHA256.hash(data: Array(head)).prefix(16))
  }

  /// Whether a file with these first bytes begins like this one.
  package func isHead(_ head: [UInt8]) -> Bool {
    head.count >= headLength && Self.headHash(of: head.prefix(headLength)) == headHash
  }
}
