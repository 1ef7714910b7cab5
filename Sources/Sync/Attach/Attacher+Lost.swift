import Logging
import Platform
import Replica
import SessionLog

/// Restores sidecars that were lost or damaged before their sessions were sealed.
extension Attacher {
  /// The files of sessions whose marker shows that they are not sealed, and which have lost their
  /// sidecar.
  ///
  /// - Throws: ``Platform/SystemError`` or ``CacheError`` if that is unknown.
  func visitedWithoutSidecar() throws -> [AttachedFile] {
    let sessions = try context.home.openSessions().filter(isWithoutSidecar)
    return try lost(among: sessions.compactMap(files.of))
  }

  /// The files whose session has no sidecar any more although it was neither sealed nor deleted:
  /// nothing else would send the rest of them.
  ///
  /// A session is sealed only after it has ended, and then loses its marker; the ledger knows the
  /// deleted ones. One whose log is in the home is sent without its sidecar.
  ///
  /// - Throws: ``Platform/SystemError`` if that is unknown.
  func lost(among files: [AttachedFile]) throws -> [AttachedFile] {
    let lost = try files.filter { file in
      guard !file.isGone, !file.isCompressed, try isWithoutSidecar(file.session) else {
        return false
      }
      return try file.isOpen || FileStatus(context.home.files(for: file.session).marker) != nil
    }
    guard !lost.isEmpty else { return [] }
    let sessions = Set(lost.map(\.session))
    let deleted = try DeletionLedger(context.home).entries(where: sessions.contains)
    return lost.filter { file in !deleted.contains { $0.session == file.session } }
  }

  /// Whether a session has neither a log in the home nor a sidecar that says anything.
  ///
  /// - Throws: ``Platform/SystemError`` if that is unknown.
  private func isWithoutSidecar(_ session: SessionID) throws -> Bool {
    let local = context.home.files(for: session)
    guard try FileStatus(local.log) == nil else { return false }
    do {
      _ = try Sidecar.load(local.sidecar)
      return false
    } catch is SidecarError {
      return true
    }
  }

  /// Restores a session's sidecar if it was lost.
  ///
  /// - Returns: whether it was.
  func restoreIfLost(_ session: SessionID) throws -> Bool {
    guard try isWithoutSidecar(session), let file = try files.of(session),
      try !lost(among: [file]).isEmpty
    else { return false }
    try restoreSidecar(of: file)
    return true
  }

  /// Writes the sidecar of a file's session again, from what the cache, the configuration and the
  /// upload know; the session continues.
  ///
  /// - Throws: ``Platform/SystemError`` and ``CacheError``.
  func restoreSidecar(of file: AttachedFile) throws {
    let local = LocalSession(context.home, file.session)
    let state = try local.loadUploadState()
    var open = file
    open.source.length = nil
    var sidecar = self.sidecar(
      file.session, reading: open.source,
      as: sources.first { $0.matchingPath(of: file.source.path) != nil },
      owner: try FileStatus(file.source.path)?.owner, startedAt: file.session.startedAt)
    let generation = try context.manifest.entry(file.session)?.generation ?? state?.generation
    sidecar.generation = generation == 1 ? nil : generation
    // An ended log may have been withheld, although later ones are not.
    let mayBeWithheld = !file.isOpen && context.home.hasWithheldLogs
    if state?.consent.map({ $0 == .metadata }) ?? mayBeWithheld { sidecar.consent = .metadata }
    // The sidecar comes last: until it is there, the next pass does all this again.
    try files.save(open)
    try context.home.mark(file.session)
    try Directory.make(local.files.directory)
    try sidecar.save(local.files.sidecar)
    context.logger.info("\(file.session): its sidecar was lost or damaged, and is written again")
  }

  /// Describes a session that reads a file.
  func sidecar(
    _ session: SessionID, reading file: Sidecar.Source, as source: LogSource?, owner: UInt32?,
    startedAt: Timestamp
  ) -> Sidecar {
    var sidecar = Sidecar(
      id: session, device: context.device, source: file,
      appName: source?.appName(of: file.path) ?? LogSource.stem(of: file.path),
      userId: source?.userName(of: file.path) ?? owner.map { Account(id: $0).name } ?? "unknown",
      startedAt: startedAt)
    sidecar.categories = source?.categoryName(of: file.path).map { [$0] } ?? []
    sidecar.consent = context.consent == .metadata ? .metadata : nil
    return sidecar
  }
}
