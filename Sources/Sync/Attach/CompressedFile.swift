import CZlib
import CZstd
import Platform

/// A log compressed by rotation with gzip or zstd, read as the original log.
struct CompressedFile {
  /// A compression format, by the file's name.
  enum Form {
    case gzip
    case zstd
    /// Compressed in a format that is not supported.
    case other
  }

  let file: OpenFile
  let form: Form
  /// The largest unpacked size allowed.
  var limit = UnpackLimit()

  private static let pieceLength = 256 << 10
  /// The operation that a log over the limit fails.
  static let tooLarge =
    "unpack, as it becomes larger than 'max-size' or than its compressed size allows,"

  /// The format that a file's name claims; nil for a plain log.
  static func form(of path: String) -> Form? {
    let suffixes: [(String, Form)] = [
      (".gz", .gzip), (".zst", .zstd), (".xz", .other), (".bz2", .other), (".lz4", .other),
      (".zip", .other),
    ]
    return suffixes.first { path.hasSuffix($0.0) }?.1
  }

  /// Passes the log's bytes to a closure, at most 256 KiB at a time.
  ///
  /// - Throws: ``Platform/SystemError``: `EILSEQ` for a damaged or incomplete file, `EOVERFLOW` if
  ///   it unpacks to more than the limit.
  func unpack(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let packed = ByteCount(try file.status().length)
    var unpacked: ByteCount = 0
    func limited(_ piece: UnsafeRawBufferPointer) throws {
      unpacked += ByteCount(piece.count)
      guard limit.refusal(of: unpacked, from: packed) == nil else {
        throw SystemError(
          operation: Self.tooLarge, path: file.path, errno: SystemError.Number.overflow)
      }
      try body(piece)
    }
    switch form {
    case .gzip: try inflate(limited)
    case .zstd: try decompress(limited)
    case .other:
      throw SystemError(operation: "unpack", path: file.path, errno: SystemError.Number.unsupported)
    }
  }

  /// Thrown to stop unpacking early.
  private struct Enough: Error {}

  /// Reads a range of the log's bytes, cut at its end.
  func read(_ range: Range<Int64>) throws -> [UInt8] {
    var position: Int64 = 0
    var bytes: [UInt8] = []
    do {
      try unpack { piece in
        let lower = min(max(0, range.lowerBound - position), Int64(piece.count))
        let upper = min(max(0, range.upperBound - position), Int64(piece.count))
        bytes.append(contentsOf: piece[Int(lower)..<Int(upper)])
        position += Int64(piece.count)
        if position >= range.upperBound { throw Enough() }
      }
    } catch is Enough {
      return bytes
    }
    return bytes
  }

  private var damaged: SystemError {
    SystemError(operation: "unpack", path: file.path, errno: SystemError.Number.malformed)
  }

  private func inflate(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var stream = z_stream()
    guard czlib_inflate_init(&stream) == Z_OK else {
      throw SystemError(operation: "unpack", path: file.path, errno: SystemError.Number.noMemory)
    }
    defer { inflateEnd(&stream) }
    var output = [UInt8](repeating: 0, count: Self.pieceLength)
    var offset: Int64 = 0
    var isAtEnd = false
    while true {
      var input = try file.read(at: offset, count: Self.pieceLength)
      guard !input.isEmpty else {
        // gzip -c appends members; the file must end with a complete one.
        guard isAtEnd else { throw damaged }
        return
      }
      offset += Int64(input.count)
      try input.withUnsafeMutableBufferPointer { source in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        while stream.avail_in > 0 {
          if isAtEnd {
            // Zeros pad what was on a tape, or was written in blocks; gzip passes over them, too.
            let rest = source.suffix(Int(stream.avail_in)).drop { $0 == 0 }
            stream.next_in = source.baseAddress.map { $0 + rest.startIndex }
            stream.avail_in = UInt32(rest.count)
            if rest.isEmpty { break }
            guard inflateReset(&stream) == Z_OK else { throw damaged }
            isAtEnd = false
          }
          isAtEnd = try inflateStep(&stream, &output, body)
        }
      }
    }
  }

  /// - Returns: whether a member ended.
  private func inflateStep(
    _ stream: inout z_stream, _ output: inout [UInt8],
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    try output.withUnsafeMutableBufferPointer { target in
      while true {
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        let result = CZlib.inflate(&stream, Z_NO_FLUSH)
        guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
          throw damaged
        }
        let count = target.count - Int(stream.avail_out)
        if count > 0 {
          try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(target).prefix(count)))
        }
        if result == Z_STREAM_END { return true }
        // Unused output space means that this input is exhausted.
        if stream.avail_out > 0 { return false }
      }
    }
  }

  private func decompress(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard let context = ZSTD_createDCtx() else {
      throw SystemError(operation: "unpack", path: file.path, errno: SystemError.Number.noMemory)
    }
    defer { ZSTD_freeDCtx(context) }
    var output = [UInt8](repeating: 0, count: Self.pieceLength)
    var offset: Int64 = 0
    var expected = 0
    while true {
      let input = try file.read(at: offset, count: Self.pieceLength)
      guard !input.isEmpty else {
        guard expected == 0 else { throw damaged }
        return
      }
      offset += Int64(input.count)
      try input.withUnsafeBytes { source in
        var source = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
        var isFull = false
        while source.pos < source.size || isFull {
          try output.withUnsafeMutableBytes { buffer in
            var target = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
            expected = ZSTD_decompressStream(context, &target, &source)
            guard ZSTD_isError(expected) == 0 else { throw damaged }
            isFull = target.pos == target.size
            if target.pos > 0 {
              try body(
                UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<target.pos]))
            }
          }
        }
      }
    }
  }
}
