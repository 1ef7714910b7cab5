import Platform

/// A session as created: its marker, lock, log and sidecar exist.
struct NewSession: ~Copyable {
  let files: SessionFiles
  let lock: FileLock
  let log: LiveLog
  let sidecar: Sidecar

  /// Creates a session; if that fails, nothing of it remains.
  ///
  /// The marker is created first, so that everything after it can be found.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - options: how it is recorded.
  ///   - machine: its clock gives the start.
  ///   - write: writes the log.
  ///   - describe: makes its sidecar.
  /// - Throws: ``SystemError``, and errors of `describe`.
  init(
    in home: Home, _ options: RecordingOptions, on machine: Machine,
    writing write: @escaping LiveLog.Write,
    _ describe: (_ session: SessionID, _ start: Timestamp) throws -> Sidecar
  ) throws {
    try home.create()
    if options.consent == .metadata { try home.noteWithheldLogs() }
    let start = machine.now()
    let session = try Self.claimID(home, start, machine)
    let files = home.files(for: session)
    do {
      try Directory.make(files.directory)
      guard let lock = try FileLock.shared(files.lock) else {
        throw SystemError(operation: "lock", path: files.lock, errno: SystemError.Number.again)
      }
      let log = try LiveLog(
        files, rotateAt: options.rotateAt, isNew: true, isTended: options.leavesDiskToTick,
        write: write)
      let sidecar = try describe(session, start)
      try sidecar.save(files.sidecar)
      self.files = files
      self.lock = lock
      self.log = log
      self.sidecar = sidecar
    } catch {
      // A sidecar without a log would say that the log was lost.
      for path in [files.sidecar, files.log, files.lock, files.marker] { try? File.remove(path) }
      throw error
    }
  }

  private static func claimID(
    _ home: Home, _ start: Timestamp, _ machine: Machine
  ) throws -> SessionID {
    while true {
      let session = SessionID.make(at: start, by: machine)
      let marker = home.files(for: session).marker
      do {
        _ = try Descriptor(opening: marker, [.write, .new])
        return session
      } catch {
        guard error.isTaken else { throw error }
      }
    }
  }
}
