import Crypto
package import LogRecords
import ObjectStore
import Platform
package import SessionLog

/// The digest and the figures of a stream from its beginning up to an offset, for the seal.
///
/// The segment that begins a stream includes one, so that a session sealed in the pass that sent it
/// is not read a second time.
package struct StreamTally: Sendable {
  /// The stream offset up to which it counts.
  package private(set) var end: StreamOffset
  private var hasher: SHA256
  /// The figures; complete after ``finish()``.
  package private(set) var statistics: LogStatistics

  /// An empty tally.
  ///
  /// - Parameter reader: reads the lines; at the stream's start.
  package init(_ reader: RecordReader) {
    self.init(upTo: 0, SHA256(), LogStatistics(reader))
  }

  /// A tally of bytes counted elsewhere; `statistics` ends with a line.
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
