import Delta
import Platform
import Replica
import SessionLog

/// Sent content of a file as recorded in its signature, which distinguishes a rewritten file from a
/// replacement.
struct SentContent {
  private let signature: Signature

  /// Opens the signature; nil if there is none.
  init?(_ file: AttachedFile, _ context: SyncContext) throws {
    guard let entry = try context.manifest.entry(file.session) else { return nil }
    signature =
      SentSignature(
        context.home, file.session, generation: entry.generation, upTo: entry.sent
      ).signature
    if signature.count == 0 { return nil }
  }

  /// A file as it would be sent if a session read it; nil if that cannot be determined.
  static func view(
    of file: AttachedFile, in content: FileContent, _ context: SyncContext
  ) throws -> LocalStream? {
    let local = LocalSession(context.home, file.session)
    guard let log = content.log(from: file.source.base),
      let sidecar = try? Sidecar.load(local.files.sidecar)
    else { return nil }
    do {
      let spans = try context.redaction.spans(local.redaction(sidecar) ?? [])
      return log.redacted(by: spans, sidecar.format)
    } catch is ReplicaError {
      // The session's upload reports the missing rules.
      return nil
    }
  }

  /// Number of bytes read at each sample.
  private static let window: Int64 = 1 << 20
  /// Number of samples, so that the cost does not depend on the file's length.
  private static let samples: Int64 = 8

  /// Whether at least half of a file was sent before, judged by samples.
  ///
  /// Repeated blocks count once: lines that are all alike could come from anywhere.
  ///
  /// - Parameter log: the file as it would leave this machine.
  func makesUpHalf(of log: LocalStream) throws -> Bool {
    let index = BlockIndex(signature)
    let length = Int64(try log.status().length)
    let step = max(Self.window, length / Self.samples)
    var (looked, found): (Int64, Int64) = (0, 0)
    var seen: Set<Block> = []
    for start in stride(from: 0, to: length, by: Int64.Stride(step)) {
      let end = min(length, start + Self.window)
      let bytes = try log.read(StreamOffset(start)..<StreamOffset(end))
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
}
