import Logging
import Platform
import Replica
import SessionLog

/// The file of a sealed attached session that is no longer what the sidecar says: a rotation has
/// compressed it, or it has grown and a later session reads it on.
///
/// To be sent again, the stream is copied to the home's own log.
struct SealedSource {
  private let context: SyncContext
  private let local: LocalSession

  init(of local: LocalSession, _ context: SyncContext) {
    (self.local, self.context) = (local, context)
  }

  /// Copies the stream from the file that holds what was sealed, if there is one, and nothing of the
  /// stream is here.
  ///
  /// If it dies at any moment, it can be repeated: the home has either no log or, once the sidecar
  /// says so, all of it.
  ///
  /// - Parameter sidecar: the session's sidecar; afterwards it says where the stream is, and so does
  ///   the one on disk.
  /// - Throws: ``Platform/SystemError`` if the home cannot be written.
  func copy(for sidecar: inout Sidecar) throws {
    guard var source = sidecar.source, let seal = sidecar.seal, seal.length > 0,
      !sidecar.withholdsLog
    else { return }
    if source.length != 0, holdsAll(of: seal, sidecar) {
      // The home's log is the whole stream, not what follows the file's own bytes.
      return try record(source, in: &sidecar)
    }
    guard let found = try find(sidecar) else { return }
    let copied = local.files.log + ".copied.tmp"
    try AtomicFile.write(to: copied, isDurable: true) { write in
      try found.log.forEachPiece(of: 0..<seal.length, write)
    }
    // Its program may have written to the file meanwhile.
    guard holdsAll(of: seal, sidecar, at: copied) else { return try File.remove(copied) }
    // A file that is gone may be another session's now.
    if !source.isGone { source.place(at: found.path, found.status) }
    try record(source, in: &sidecar)
    try File.rename(copied, to: local.files.log)
    try AtomicFile.syncDirectory(of: local.files.log)
    context.logger.notice("\(local.session): copied from \(found.path), to be sent again")
  }

  /// Opens the file that holds what was sealed; nil if there is none, or if something of the stream is
  /// where the sidecar says.
  ///
  /// - Throws: ``Platform/SystemError`` if the home cannot be read.
  func log(of sidecar: Sidecar) throws -> LocalStream? { try find(sidecar)?.log }

  private func find(
    _ sidecar: Sidecar
  ) throws -> (path: String, log: LocalStream, status: FileStatus)? {
    guard let source = sidecar.source, sidecar.seal != nil, !sidecar.withholdsLog,
      try local.openLog(source) == nil
    else { return nil }
    for path in try candidates(source) {
      guard let (log, status) = try? sealedLog(in: path, source, sidecar) else { continue }
      return (path, log, status)
    }
    return nil
  }

  /// Records that the home's log has the whole stream of a file.
  ///
  /// The cache of attached files may still say that the file has it: the next pass rebuilds it.
  private func record(_ source: Sidecar.Source, in sidecar: inout Sidecar) throws {
    try AttachedFiles(context.home).distrust()
    sidecar.source = source
    sidecar.source?.length = 0
    try sidecar.save(local.files.sidecar)
  }

  /// Whether the home's log, or a copy of the file, holds the whole sealed stream, whatever the sidecar
  /// says.
  private func holdsAll(
    of seal: Sidecar.Seal, _ sidecar: Sidecar, at path: String? = nil
  ) -> Bool {
    guard let log = try? LocalStream(path: path ?? local.files.log),
      let length = try? log.status().length, length == seal.length
    else { return false }
    return (try? isSealed(log, sidecar)) == true
  }

  /// Files that may hold the session's: the one that passes know, those that others read on, and compressed
  /// ones with rotated names.
  private func candidates(_ source: Sidecar.Source) throws -> [String] {
    let files = try AttachedFiles(context.home)
    let known = try files.of(local.session)?.source.path
    let end = source.length.map(source.position) ?? 0
    let longer = try files.continuing(from: end).map(\.source.path)
    let folder = AttachedFile.folder(of: source.path)
    let stem = LogSource.stem(of: source.path)
    let rotated = try Directory.names(in: folder).map { "\(folder)/\($0)" }
      .filter { LogSource.stem(of: $0).hasPrefix(stem) && CompressedFile.form(of: $0) != nil }
    return [known].compactMap(\.self) + longer + rotated
  }

  /// The log of a file, unpacked if need be, and the file's status; nil if it lacks bytes that were
  /// sealed.
  private func sealedLog(
    in path: String, _ source: Sidecar.Source, _ sidecar: Sidecar
  ) throws -> (log: LocalStream, status: FileStatus)? {
    let content = try FileContent(path)
    let target = "\(context.home.cachePath)/\(local.session).unpacked"
    guard try source.isHead(content.head()),
      let log = try content.log(from: source.base)
        ?? content.unpackedLog(from: source.base, at: target)
    else { return nil }
    return try isSealed(log, sidecar) ? (log, content.status()) : nil
  }

  /// Whether a compressed file has all bytes that were sealed; nil if that cannot be compared, because
  /// nothing was, or not by rules that are known here.
  ///
  /// - Throws: ``Platform/SystemError`` if the file or the home cannot be read.
  func isSealed(in path: String) throws -> Bool? {
    guard try local.isHere(), let sidecar = try readableSidecar(), let source = sidecar.source,
      sidecar.seal != nil, sidecar.objects?.isEmpty == false
    else { return nil }
    do {
      return try sealedLog(in: path, source, sidecar) != nil
    } catch is ReplicaError {
      return nil
    } catch let error as SystemError where error.errno == SystemError.Number.malformed {
      return false
    }
  }

  /// The session's sidecar; nil if it is damaged.
  private func readableSidecar() throws -> Sidecar? {
    do {
      return try Sidecar.load(local.files.sidecar)
    } catch let error as SystemError {
      throw error
    } catch {
      return nil
    }
  }

  /// Whether a log has all bytes that were sealed.
  private func isSealed(_ log: LocalStream, _ sidecar: Sidecar) throws -> Bool {
    let spans = try context.redaction.spans(local.redaction(sidecar) ?? [])
    let sent = log.redacted(by: spans, sidecar.format)
    let names = (sidecar.objects ?? []).compactMap(SegmentName.init)
    return try !names.isEmpty && names.allSatisfy { try $0.matches(sent) }
  }
}
