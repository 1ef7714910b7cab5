import Crypto

/// SHA-256 that is worked out on another core than where its bytes come from.
///
/// What comes together is copied, and hashed while more comes.
struct ParallelHasher: Sendable {
  private var waiting: [UInt8] = []
  private var hashed: Task<SHA256, Never>?

  /// Takes the next bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) { waiting += bytes }

  /// Returns when what ``proceed()`` was asked for is done: nothing but newer bytes is in memory then.
  func catchUp() async { _ = await hashed?.value }

  /// Begins to hash what was taken.
  ///
  /// Ask after each piece or so, and ``catchUp()`` before.
  mutating func proceed() {
    hashed = Task { @concurrent [waiting, hashed] in
      var hasher = await hashed?.value ?? SHA256()
      waiting.withUnsafeBytes { hasher.update(bufferPointer: $0) }
      return hasher
    }
    waiting = []
  }

  /// The digest of all that was taken.
  func finalize() async -> SHA256Digest {
    var hasher = await hashed?.value ?? SHA256()
    waiting.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize()
  }
}
