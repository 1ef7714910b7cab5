import Crypto
import Delta
import Platform
package import SessionLog

extension SegmentName {
  /// Whether the local log's bytes match this name's hash.
  ///
  /// - Throws: like ``LocalStream/read(_:)``.
  package func matches(_ log: LocalStream) throws -> Bool {
    try matches { try log.read($0) }
  }

  /// The same for a log that may have become shorter: then it does not match.
  package func isPart(of log: LocalStream) throws -> Bool {
    try range.upperBound <= log.status().length && matches(log)
  }

  /// Whether a stream's bytes match this name's hash.
  ///
  /// - Parameter read: returns a range of the stream, cut at its end.
  package func matches(_ read: (Range<StreamOffset>) throws -> [UInt8]) rethrows -> Bool {
    var hasher = SHA256()
    var start = range.lowerBound
    while start < range.upperBound {
      let piece = start..<min(range.upperBound, start + 1 << 20)
      let bytes = try read(piece)
      guard ByteCount(bytes.count) == piece.byteCount else { return false }
      bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
      start = piece.upperBound
    }
    return NameField.hash16(hasher.finalize()) == hash
  }

  /// Whether an object holds exactly the local log's bytes in this segment's range.
  ///
  /// - Parameters:
  ///   - object: all bytes of the object; damage in it makes the result false.
  ///   - log: the local log.
  ///   - decoder: decompresses it.
  /// - Throws: like ``LocalStream/read(_:)``.
  func holds(_ object: [UInt8], from log: LocalStream, with decoder: SegmentDecoder) throws -> Bool
  {
    var position = range.lowerBound
    var isEqual = true
    do {
      try decoder.decode(object, rawLength: Int(length)) {
        let end = position + ByteCount($0.count)
        isEqual = try isEqual && log.has($0, in: position..<end)
        position = end
      }
    } catch is SegmentError {
      return false
    }
    return isEqual
  }
}

/// Compares names of segments with a stream that is read once, from its start.
package struct StreamComparison {
  /// Those that begin further on, the first last.
  private var waiting: [SegmentName]
  private var hashing: [(name: SegmentName, hasher: SHA256)] = []
  private var position = StreamOffset.zero
  /// A name whose hash the stream does not have at its range.
  private var differing: SegmentName?

  /// Begins a comparison.
  package init(_ names: some Sequence<SegmentName>) {
    waiting = names.sorted { $0.range.lowerBound > $1.range.lowerBound }
  }

  /// Adds the next bytes of the stream.
  package mutating func add(_ piece: UnsafeRawBufferPointer) {
    let range = position..<position + ByteCount(piece.count)
    position = range.upperBound
    while let name = waiting.last, name.range.lowerBound < range.upperBound {
      hashing.append((waiting.removeLast(), SHA256()))
    }
    for index in hashing.indices {
      let part = hashing[index].name.range.clamped(to: range)
      let first = Int(part.lowerBound - range.lowerBound)
      hashing[index].hasher.update(
        bufferPointer: .init(rebasing: piece[first..<first + Int(part.byteCount)]))
    }
    finish { $0.range.upperBound <= range.upperBound }
  }

  private mutating func finish(where isComplete: (SegmentName) -> Bool) {
    hashing.removeAll { name, hasher in
      guard isComplete(name) else { return false }
      if NameField.hash16(hasher.finalize()) != name.hash { differing = name }
      return true
    }
  }

  /// A name that the stream, which has ended, does not have; nil if it has all.
  package var missing: SegmentName? { differing ?? hashing.first?.name ?? waiting.last }
}
