package import Platform

/// A program's sessions on this machine that have ended, the trash included.
package struct EndedSessions {
  private let home: Home
  private let app: String

  /// The ended sessions of a home.
  ///
  /// - Parameters:
  ///   - app: the program's name.
  ///   - home: the home.
  package init(of app: String, in home: Home) { (self.app, self.home) = (app, home) }

  /// Deletes them at the program's user's request; remote copies stay.
  ///
  /// Running sessions stay, and so do those that a person keeps.
  ///
  /// - Parameters:
  ///   - running: a session that is never deleted.
  ///   - command: the requesting call, for the ledger.
  ///   - machine: the machine.
  ///   - lock: the home's lock.
  /// - Returns: the number of deleted sessions, and the first error of those that could not be
  ///   deleted.
  /// - Throws: ``Platform/SystemError``.
  package func delete(
    but running: SessionID?, command: String, on machine: Machine,
    holding lock: HomeLock
  ) throws -> (deleted: Int, failure: (any Error)?) {
    lock.expect(home)
    let reading = LivedTime.Reading(machine)
    var time = try LivedTime.load(home) ?? LivedTime(at: reading, random: machine.random)
    time.advance(to: reading)
    let (trash, holds) = (Trash(home), Holds(home))
    let trashed = try trash.sessions(at: time.mark)
    let local = try home.sessions()
    var deleted = 0
    var failure: (any Error)?
    for session in Set(local).union(trashed.keys).sorted() {
      guard session != running, !holds.isHeld(session, at: time) else { continue }
      do {
        let isDeleted = try deleteIfEnded(
          session, isTrashed: trashed[session] != nil, command, at: time, machine)
        deleted += isDeleted ? 1 : 0
      } catch {
        failure = failure ?? error
      }
    }
    return (deleted, failure)
  }

  private func deleteIfEnded(
    _ session: SessionID, isTrashed: Bool, _ command: String, at time: LivedTime,
    _ machine: Machine
  ) throws -> Bool {
    let local = LocalSession(home, session)
    let trash = Trash(home)
    let hasFiles = local.hasSidecar
    guard let path = try local.sidecarPath(),
      let sidecar = try? Sidecar.load(path), sidecar.appName == app, sidecar.source == nil,
      sidecar.status != .active || sidecar.recorder != nil
    else { return false }
    let alone = hasFiles ? try FileLock.tryExclusive(local.files.lock) : nil
    guard !hasFiles || alone != nil else { return false }
    defer { withExtendedLifetime(alone) {} }
    func entry(_ copy: DeletionLedger.Entry.Copy, _ bytes: ByteCount?) -> DeletionLedger.Entry {
      .init(
        at: machine.now(), session: session, copy: copy, what: "log", bytes: bytes,
        ground: .asked, finding: command)
    }
    var entries: [DeletionLedger.Entry] = []
    if hasFiles { entries.append(entry(.local, try local.logBytes())) }
    if isTrashed { entries.append(entry(.trash, nil)) }
    let recorded = try RecordedDeletions(entries, in: DeletionLedger(home), at: time, .off)
    do {
      if hasFiles { try recorded.removeFiles(of: local) }
      if isTrashed { _ = try trash.remove(session) }
      try Quarantine(home).release(session)
    } catch {
      for entry in entries { recorded.failed(entry, error) }
      throw error
    }
    for entry in entries { recorded.succeeded(entry) }
    return true
  }
}
