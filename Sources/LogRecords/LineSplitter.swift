#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Splits a stream that arrives in arbitrary pieces into lines, newline included.
package struct LineSplitter {
  /// Maximum length of a line, in bytes; a longer one is delivered in pieces.
  package static let limit = 8 << 20

  private var pending: [UInt8] = []
  /// Whether the next piece continues a line whose start was delivered already.
  private var isInside = false

  /// Appends the next piece of the stream.
  ///
  /// - Parameter body: called with each complete line, and whether this is the start of a line
  ///   (rather than the rest of one that was too long).
  package mutating func add(
    _ chunk: UnsafeRawBufferPointer,
    _ body: (_ line: UnsafeRawBufferPointer, _ isStart: Bool) throws -> Void
  ) rethrows {
    var rest = chunk
    if !pending.isEmpty {
      let head = Self.lineEnd(rest) ?? rest.count
      pending.append(contentsOf: rest.prefix(head))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(head))
      guard pending.last == 0x0a || pending.count > Self.limit else { return }
      try flush(body)
    }
    while let end = Self.lineEnd(rest) {
      try hand(UnsafeRawBufferPointer(rebasing: rest.prefix(end)), body)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end))
    }
    pending.append(contentsOf: rest)
    if pending.count > Self.limit { try flush(body) }
  }

  /// Delivers a last line without a newline.
  package mutating func finish(
    _ body: (_ line: UnsafeRawBufferPointer, _ isStart: Bool) throws -> Void
  ) rethrows {
    if !pending.isEmpty { try flush(body) }
  }

  /// Continues at another position of the stream, where the first line may be incomplete.
  package mutating func skip() {
    pending.removeAll()
    isInside = true
  }

  private mutating func flush(
    _ body: (UnsafeRawBufferPointer, Bool) throws -> Void
  ) rethrows {
    let line = pending
    pending.removeAll(keepingCapacity: line.count <= 65_536)
    try line.withUnsafeBytes { try hand($0, body) }
  }

  private mutating func hand(
    _ line: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Bool) throws -> Void
  ) rethrows {
    let isStart = !isInside
    isInside = line.last != 0x0a
    try body(line, isStart)
  }

  /// The length of the first line, newline included.
  package static func lineEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress, let found = memchr(base, 0x0a, bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(found) - base + 1
  }
}
