/// Splits a stream into blocks and hashes them; keeps the bytes of the unfinished one.
struct BlockHasher: Sendable {
  private var splitter = BlockSplitter()

  /// Bytes after the last boundary, at most ``BlockSplitter/maximum``.
  private(set) var openBytes: [UInt8] = []

  /// Appends the next bytes of the stream; calls `body` for each finished block with its bytes.
  mutating func append(
    _ bytes: UnsafeRawBufferPointer, _ body: (Block, UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    var open = openBytes
    openBytes = []
    var used = 0
    try splitter.append(bytes) { boundary in
      let missing = boundary.length - open.count
      if open.isEmpty {
        let block = UnsafeRawBufferPointer(rebasing: bytes[used..<used + missing])
        used += missing
        try body(Block(boundary, of: block), block)
        return
      }
      if missing > 0 {
        open.append(contentsOf: bytes[used..<used + missing])
        used += missing
      }
      try open.withUnsafeBytes {
        let block = UnsafeRawBufferPointer(rebasing: $0[..<boundary.length])
        try body(Block(boundary, of: block), block)
      }
      open.removeFirst(boundary.length)
    }
    open.append(contentsOf: bytes[used...])
    openBytes = open
  }
}

extension Block {
  fileprivate init(_ boundary: BlockSplitter.Boundary, of bytes: UnsafeRawBufferPointer) {
    self.init(length: boundary.length, hash: ContentHash(of: bytes), level: boundary.level)
  }
}
