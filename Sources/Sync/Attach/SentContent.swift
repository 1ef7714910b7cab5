import Delta
import Replica
import SessionLog

/// What was sent of a file, as far as its signature tells: by this a file that was rewritten is told
/// from one that took another's place.
struct SentContent {
  private let signature: Signature

  /// Opens the signature; nil where there is none.
  init?(_ file: AttachedFile, _ context: SyncContext) throws {
    guard let entry = try context.manifest.entry(file.session) else { return nil }
    signature =
      SentSignature(
        context.home, file.session, generation: entry.generation, upTo: entry.sent
      ).signature
    if signature.count == 0 { return nil }
  }

  /// Bytes that are read in one place.
  private static let window: Int64 = 1 << 20
  /// In how many places a file is looked at, so that the cost does not depend on its length.
  private static let places: Int64 = 8

  /// Whether at least half of a file was sent before, judged by samples.
  ///
  /// What repeats itself counts once: of lines that are all alike nobody can tell where they are from.
  func makesUpHalf(of content: FileContent, length: Int64) throws -> Bool {
    let index = BlockIndex(signature)
    let step = max(Self.window, length / Self.places)
    var (looked, found): (Int64, Int64) = (0, 0)
    var seen: Set<Block> = []
    for start in stride(from: 0, to: length, by: Int64.Stride(step)) {
      let bytes = try content.read(start..<min(length, start + Self.window))
      looked += Int64(bytes.count)
      var encoder = DeltaEncoder(basis: index)
      func count(_ piece: DeltaEncoder.Piece) {
        guard piece.source != nil, let block = piece.block, seen.insert(block).inserted else {
          return
        }
        found += Int64(piece.bytes.count)
      }
      bytes.withUnsafeBytes { encoder.append($0, count) }
      encoder.finish(count)
    }
    return found > 0 && found * 2 >= looked
  }

  /// Whether a file begins with exactly what was sent, up to its last whole block.
  func isBeginning(of content: FileContent) throws -> Bool {
    var builder = SignatureBuilder()
    var found = SignatureFile()
    var position: Int64 = 0
    while found.signature.end < signature.end {
      let bytes = try content.read(position..<position + Self.window)
      guard !bytes.isEmpty else { return false }
      position += Int64(bytes.count)
      bytes.withUnsafeBytes { builder.append($0) }
      _ = found.append(builder.take())
    }
    return signature.isPrefix(of: found.signature)
  }
}
