import Crypto
package import LogRecords
import ObjectStore
import Platform
package import SessionLog

/// What a stream holds from its beginning up to an offset: the digest and the figures of a seal.
///
/// The segment that begins a stream brings one along, so that a session that is sealed in the pass
/// that sent it is not read a second time.
package struct StreamTally: Sendable {
  /// Up to which offset the stream has been counted.
  package private(set) var end: StreamOffset
  private var hasher: SHA256
  /// The figures; complete after ``finish()``.
  package private(set) var statistics: LogStatistics

  /// Nothing counted yet.
  ///
  /// - Parameter reader: reads the lines; has seen none.
  package init(_ reader: RecordReader) {
    self.init(upTo: 0, SHA256(), LogStatistics(reader))
  }

  /// What has been counted; `statistics` ends where a line does.
  init(upTo end: StreamOffset, _ hasher: SHA256, _ statistics: LogStatistics) {
    self.end = end
    self.hasher = hasher
    self.statistics = statistics
  }

  /// Counts the next bytes.
  package mutating func add(_ piece: UnsafeRawBufferPointer) {
    hasher.update(bufferPointer: piece)
    statistics.add(piece)
    end += ByteCount(piece.count)
  }

  /// SHA-256 of the stream so far, lower-case hex.
  package var digest: String { Hex.text(hasher.finalize()) }

  /// Counts a last line without a newline.
  package mutating func finish() { statistics.finish() }
}
