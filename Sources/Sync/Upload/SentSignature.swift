import Delta
import Platform
import Replica
import SessionLog

/// The signature of what was sent of one generation of an attached session, kept in the cache.
///
/// It is made of the very bytes that are sent, and of no others: a delta against a signature of
/// something else could never be read. Where it is lost it is made again, as far as the file still
/// has what was sent; else a change is sent plain.
struct SentSignature {
  private let path: String
  private var file: SignatureFile
  /// Takes the stream's next bytes.
  private(set) var builder: SignatureBuilder

  /// The blocks so far.
  var signature: Signature { file.signature }
  /// The stream offset up to which they reach.
  var end: StreamOffset { StreamOffset(file.signature.end) }

  /// How many bytes may be sent before it is opened again for them.
  static let slack: ByteCount = 65_536

  /// Opens what is there.
  ///
  /// - Parameter sent: how far the generation has been sent; blocks beyond cannot be of it.
  init(_ home: Home, _ session: SessionID, generation: Int, upTo sent: StreamOffset) {
    path = Self.path(home, session, generation)
    // Whatever is wrong with it, it counts for nothing.
    let file = SignatureFile((try? Self.read(path, upTo: sent)) ?? [])
    self.file = file.signature.end <= Int64(sent) ? file : SignatureFile()
    builder = SignatureBuilder(from: self.file.signature.end)
  }

  /// Reads no more than a signature of so many bytes can have: a block of 2 KiB or more, and at worst
  /// a group of its own, takes 31 bytes.
  private static func read(_ path: String, upTo sent: StreamOffset) throws -> [UInt8] {
    let file = try OpenFile(path)
    return try file.read(
      at: 0, count: Int(min(file.status().length, (sent.byteCount / 32 + slack).bytes)))
  }

  private static func path(_ home: Home, _ session: SessionID, _ generation: Int) -> String {
    "\(home.cachePath)/\(session).g\(generation).sig"
  }

  /// Takes bytes that have been sent, read again from a log that may have changed.
  ///
  /// - Parameter segments: what holds them, in order; the first that the log does not have as it
  ///   was sent ends it.
  /// - Returns: whether all of them are in it now.
  /// - Throws: as `LocalStream.read` does.
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

  /// Goes on with a builder that has taken what was sent since.
  mutating func proceed(with builder: SignatureBuilder) {
    self.builder = builder
    save()
  }

  private mutating func save() { append(builder.take()) }

  /// Keeps the blocks that come next.
  ///
  /// Where there is no room for them, the signature is lost.
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
