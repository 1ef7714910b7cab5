#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Cuts a stream that arrives in any pieces into lines, newline included.
package struct LineSplitter {
  /// A line longer than this is handed on in pieces.
  package static let limit = 8 << 20

  private var pending: [UInt8] = []
  /// Whether the next piece goes on with a line of which the start was handed on already.
  private var isInside = false

  /// Takes the next piece of the stream.
  ///
  /// - Parameter body: gets each line that ended, and whether it starts a line (rather than going
  ///   on with one that was too long to keep).
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

  /// Hands on a last line without a newline.
  package mutating func finish(
    _ body: (_ line: UnsafeRawBufferPointer, _ isStart: Bool) throws -> Void
  ) rethrows {
    if !pending.isEmpty { try flush(body) }
  }

  /// Goes on at another place of the stream: the first line there may be a part of one.
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
