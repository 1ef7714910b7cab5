import Platform
import Replica
package import SessionLog

/// Imports a file that no source names.
extension Attacher {
  /// Begins the session of one file, outside any source, and ends it at its present length.
  ///
  /// - Returns: the session, and whether something of the file is new: a known file keeps its session,
  ///   unless it has grown since that was sealed.
  /// - Throws: ``Platform/SystemError`` when the file cannot be read.
  package func adopt(
    _ path: String, as source: LogSource, holding lock: HomeLock
  ) throws -> (session: SessionID, isNew: Bool) {
    lock.expect(context.home)
    let before = try discardingDamage(holding: lock) { lock in
      _ = try isCurrent(holding: lock)
      return try known(at: path)
    }
    guard let status = try FileStatus(path) else {
      throw SystemError(operation: "open", path: path, errno: SystemError.Number.notFound)
    }
    var new = AttachPlan.Beginning(source: source, path: path, status: status, end: .imported)
    var session: SessionID?
    if let before {
      guard !before.isOpen, !before.isGone, try FileContent(path).reaches(beyond: before.seen)
      else { return (before.session, false) }
      if CompressedFile.form(of: path) == nil, try mayContinue(before) {
        try extend(before, to: path)
        session = before.session
      }
      // What was appended since its seal belongs to a session of its own.
      (new.base, new.continues, new.replaces) = (before.seen, before.session, before.session)
    }
    let adopted = try session ?? begin(new)
    var pass = try files.pass()
    pass.isDirty = false
    pass.boot = context.machine.bootId
    try files.save(pass)
    return (adopted, true)
  }

  /// Whether what a plain file got since its session ended may be sent with it.
  private func mayContinue(_ file: AttachedFile) throws -> Bool {
    let local = LocalSession(context.home, file.session)
    guard file.source.length != .zero, let sidecar = try? Sidecar.load(local.files.sidecar),
      sidecar.seal == nil
    else { return false }
    let state = try local.loadUploadState() ?? UploadState()
    return state.withdrawnAt == nil
      && (state.consent(sidecar) == .logs || context.consent == .metadata)
  }

  /// Adds what its file has got since to an ended session that is not sealed.
  ///
  /// - Throws: ``Moved`` if the file was cut or replaced meanwhile; ``Platform/SystemError``.
  private func extend(_ known: AttachedFile, to path: String) throws {
    let content = try FileContent(path)
    let status = try content.status()
    var file = known
    file.place(at: path, status)
    (file.seen, file.changed) = (status.length, status.changed)
    file.link = try content.link(before: file.seen)
    guard file.link != nil, file.seen >= known.seen else { throw Moved() }
    try file.takeHead(of: content)
    file.source.length = file.source.offset(of: file.seen)
    try files.distrust()
    try context.home.mark(file.session)
    let ended = try recordTimes(content, file.source.base..<file.seen, status.modifiedAt).last
    try update(file.session) { sidecar in
      sidecar.source = file.source
      sidecar.endedAt = min(ended, context.now())
    }
    try files.save(file)
  }

  /// The session of a file that is known already; nil if there is none.
  ///
  /// Changes nothing but an outdated cache, which it rebuilds unless another process has the home's
  /// lock.
  ///
  /// - Throws: when the cache or the home cannot be read.
  package func session(of path: String) throws -> SessionID? {
    try discardingDamage(holding: nil) { lock in
      _ = try isCurrent(holding: lock)
      return try known(at: path)
    }?.session
  }

  /// The known file that the file at a path continues.
  private func known(at path: String) throws -> AttachedFile? {
    guard let status = try FileStatus(path) else { return nil }
    let content = try FileContent(path)
    let sent = SentFiles(context: context, problems: [:], awaited: [])
    return try (files.numbered(status) + files.at(path)).first { file in
      guard try sent.continues(file, content) else { return false }
      guard !file.isCompressed, let sent = try SentBytes(file.session, context) else { return true }
      return try sent.isUntouched(status) || sent.areUnpackedIn(content)
    }
  }
}
