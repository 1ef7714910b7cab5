import Delta
import Platform
import Replica
import SessionLog

/// The signature of the sent bytes of one generation of an attached session, kept in the cache.
///
/// It is computed from exactly the bytes that are sent: a delta against any other signature could
/// never be read. If it is lost, it is computed again as far as the file still matches the sent
/// bytes; otherwise a change is sent plain.
struct SentSignature {
  private let path: String
  private var file: SignatureFile
  /// Consumes the stream's next bytes.
  private(set) var builder: SignatureBuilder

  /// The blocks so far.
  var signature: Signature { file.signature }
  /// The stream offset at which they end.
  var end: StreamOffset { StreamOffset(file.signature.end) }

  /// How many bytes may be sent before the signature is updated.
  static let slack: ByteCount = 65_536

  /// Opens the existing signature.
  ///
  /// - Parameter sent: how far the generation has been sent; later blocks are not of it.
  init(_ home: Home, _ session: SessionID, generation: Int, upTo sent: StreamOffset) {
    path = Self.path(home, session, generation)
    // Any error means an empty signature.
    let file = SignatureFile((try? Self.read(path, upTo: sent)) ?? [])
    self.file = file.signature.end <= Int64(sent) ? file : SignatureFile()
    builder = SignatureBuilder(from: self.file.signature.end)
  }

  /// Reads at most the size of a signature of this many bytes: a block of 2 KiB or more, in the
  /// worst case a group of its own, needs 31 bytes.
  private static func read(_ path: String, upTo sent: StreamOffset) throws -> [UInt8] {
    let file = try OpenFile(path)
    return try file.read(
      at: 0, count: Int(min(file.status().length, (sent.byteCount / 32 + slack).bytes)))
  }

  private static func path(_ home: Home, _ session: SessionID, _ generation: Int) -> String {
    "\(home.cachePath)/\(session).g\(generation).sig"
  }

  /// Adds bytes already sent, read again from a log that may have changed.
  ///
  /// - Parameter segments: the segments that hold them, in order; stops at the first that differs
  ///   from the log.
  /// - Returns: whether all of them were added.
  /// - Throws: like `LocalStream.read`.
  mutating func catchUp(with segments: [SegmentName], of log: LocalStream) throws -> Bool {
    var next = end
    for segment in segments where segment.range.upperBound > next {
      guard try log.available().lowerBound <= segment.range.lowerBound, try segment.matches(log)
      else { return false }
      try log.forEachPiece(of: next..<segment.range.upperBound) { builder.append($0) }
      next = segment.range.upperBound
      save()
      if end == 0, next > .zero + Self.slack { return false }
    }
    return true
  }

  /// Continues with a builder that has consumed the bytes sent since.
  mutating func proceed(with builder: SignatureBuilder) {
    self.builder = builder
    save()
  }

  private mutating func save() { append(builder.takeBlocks()) }

  /// Stores the next blocks.
  ///
  /// Without disk space, the signature is lost.
  mutating func append(_ entries: [Signature.Entry]) {
    let whole = file.length
    let bytes = file.append(entries)
    guard !bytes.isEmpty else { return }
    do {
      let handle = try Descriptor(opening: path, [.readWrite, .create])
      try handle.truncate(to: Int64(whole))
      try handle.seek(to: Int64(whole))
      try bytes.withUnsafeBytes { try handle.write($0) }
    } catch {
      try? File.remove(path)
      file = SignatureFile()
      builder = SignatureBuilder()
    }
  }

  /// Removes the file.
  static func remove(_ home: Home, _ session: SessionID, generation: Int) throws {
    try File.remove(path(home, session, generation))
  }
}
