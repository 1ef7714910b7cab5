import Crypto
import Platform

/// SHA-256 that is worked out on another core than where its bytes come from.
///
/// What comes together is copied, and hashed while more comes; at once, where ``Parallelism`` says
/// that nothing is done beside anything else.
struct ParallelHasher: Sendable {
  private var waiting: [UInt8] = []
  private var hashed: Task<SHA256, Never>?
  /// What was hashed at once.
  private var hasher = SHA256()

  /// Takes the next bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) { waiting += bytes }

  /// Returns when what ``proceed()`` was asked for is done: nothing but newer bytes is in memory then.
  func catchUp() async { _ = await hashed?.value }

  /// Begins to hash what was taken.
  ///
  /// Ask after each piece or so, and ``catchUp()`` before.
  mutating func proceed() {
    defer { waiting = [] }
    guard !Parallelism.isSequential else {
      return waiting.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    }
    hashed = Task { @concurrent [waiting, hashed, hasher] in
      var hasher = await hashed?.value ?? hasher
      waiting.withUnsafeBytes { hasher.update(bufferPointer: $0) }
      return hasher
    }
  }

  /// The digest of all that was taken.
  func finalize() async -> SHA256Digest {
    var hasher = await hashed?.value ?? hasher
    waiting.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize()
  }
}
