import Crypto
import Platform

/// SHA-256, computed on another core than the one that produces the bytes.
///
/// Appended bytes are copied, and hashed while more arrive; or immediately, if ``Parallelism``
/// disables concurrency.
struct ParallelHasher: Sendable {
  private var waiting: [UInt8] = []
  private var hashed: Task<SHA256, Never>?
  /// The hash of everything handed over.
  private var hasher = SHA256()

  /// Appends bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) { waiting += bytes }

  /// Waits for the hashing that ``proceed()`` started: then only newer bytes are in memory.
  func catchUp() async { _ = await hashed?.value }

  /// Starts to hash the appended bytes.
  ///
  /// Call it after each piece or so, preceded by ``catchUp()``.
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

  /// The digest of all appended bytes.
  func finalize() async -> SHA256Digest {
    var hasher = await hashed?.value ?? hasher
    waiting.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize()
  }
}
