import Dispatch
import LogRecords
import Platform

/// Compresses the rotated parts of a session that is being written.
///
/// A part that cannot be compressed, for example on a full disk, is read plain, and retried after
/// the next rotation, at the end, and by the uploader.
struct PartCompressor {
  let format: LogFormat
  /// Nil if everything runs in the caller's task, see ``Parallelism``.
  private let queue =
    Parallelism.isSequential
    ? nil : DispatchQueue(label: "tidemark.compression", qos: .utility)

  init(_ format: LogFormat) { self.format = format }

  /// Compresses parts while the program goes on.
  func start(_ files: SessionFiles) {
    guard let queue else { return compress(files) }
    queue.async { [self] in compress(files) }
  }

  /// Compresses parts.
  func compress(_ files: SessionFiles) { try? files.compressParts(format: format) }

  /// Compresses parts, after what has been started.
  func finish(_ files: SessionFiles) {
    wait()
    compress(files)
  }

  /// Waits until what has been started is over.
  func wait() { queue?.sync {} }
}
