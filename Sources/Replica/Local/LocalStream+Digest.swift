import Crypto
import Platform
import SessionLog

extension LocalStream {
  /// SHA-256 of the whole log as it is now, lower-case hex.
  ///
  /// - Throws: ``Platform/SystemError``; also if its beginning was pruned.
  package func digest() throws -> String {
    var hasher = SHA256()
    try forEachPiece(of: 0..<status().length) { hasher.update(bufferPointer: $0) }
    return Hex.text(hasher.finalize())
  }
}
