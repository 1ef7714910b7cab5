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
