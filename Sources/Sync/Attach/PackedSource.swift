import Logging
import Platform
import Replica
import SessionLog

/// The file of a sealed attached session that a rotation has compressed since.
///
/// To be sent again, it is unpacked into the home's own log.
struct PackedSource {
  private let context: SyncContext
  private let local: LocalSession

  init(of local: LocalSession, _ context: SyncContext) {
    (self.local, self.context) = (local, context)
  }

  /// Unpacks the file that holds what was sealed, if there is one, and nothing of the stream is here.
  ///
  /// - Parameter sidecar: the session's sidecar; afterwards it says where the stream is.
  /// - Throws: ``Platform/SystemError`` if the home cannot be written.
  func unpack(for sidecar: inout Sidecar) throws {
    guard let source = sidecar.source, let seal = sidecar.seal, seal.length > 0,
      !sidecar.withholdsLog, !File.exists(local.files.log), try local.openLog(source) == nil
    else { return }
    for path in try candidates(source) {
      guard let log = try? sealedLog(in: path, source, sidecar) else { continue }
      try AtomicFile.write(to: local.files.log, isDurable: true) { write in
        try log.forEachPiece(of: 0..<seal.length, write)
      }
      context.logger.notice("\(local.session): unpacked from \(path), to be sent again")
      sidecar.source?.length = 0
      sidecar.source?.lose()
      return
    }
  }

  /// Compressed files that may be the session's: the one that passes know, and those with rotated names.
  private func candidates(_ source: Sidecar.Source) throws -> [String] {
    let known = try AttachedFiles(context.home).of(local.session)?.source.path
    let folder = AttachedFile.folder(of: source.path)
    let stem = LogSource.stem(of: source.path)
    let rotated = try Directory.names(in: folder).map { "\(folder)/\($0)" }
      .filter { LogSource.stem(of: $0).hasPrefix(stem) }
    return ([known].compactMap(\.self) + rotated).filter { CompressedFile.form(of: $0) != nil }
  }

  /// The unpacked log of a file; nil if it lacks bytes that were sealed.
  private func sealedLog(
    in path: String, _ source: Sidecar.Source, _ sidecar: Sidecar
  ) throws -> LocalStream? {
    let content = try FileContent(path)
    let target = "\(context.home.cachePath)/\(local.session).unpacked"
    guard try source.isHead(content.head()),
      let log = try content.unpackedLog(from: source.base, at: target)
    else { return nil }
    let spans = try context.redaction.spans(local.redaction(sidecar) ?? [])
    let sent = log.redacted(by: spans, sidecar.format)
    let names = (sidecar.objects ?? []).compactMap(SegmentName.init)
    return try !names.isEmpty && names.allSatisfy { try $0.matches(sent) } ? log : nil
  }
}
