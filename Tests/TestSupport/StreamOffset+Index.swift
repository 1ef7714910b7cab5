import Platform
package import SessionLog

extension Int {
  /// An offset as an index into a buffer that holds the stream.
  package init(_ offset: StreamOffset) { self.init(offset.byteCount.bytes) }
}

extension Range<StreamOffset> {
  /// A range as one of indices into a buffer that holds the stream.
  package var indices: Range<Int> { Int(lowerBound)..<Int(upperBound) }
}
