package import Platform
import Replica
package import SessionLog

/// Makes a new session of this machine from a copy of another one's log.
///
/// The new session has ended, names its original in `continues`, and is uploaded like any other.
package struct SessionRestorer {
  private let home: Home
  private let device: Device
  private let machine: Machine
  private let space: FreeSpace

  /// Restores into a home.
  package init(
    into home: Home, device: Device, machine: Machine, space: FreeSpace = .system
  ) {
    (self.home, self.device, self.machine, self.space) = (home, device, machine, space)
  }

  /// The session that an earlier restoration of a copy made, if its log is still on this machine.
  ///
  /// - Parameters:
  ///   - original: the sidecar of the copy.
  ///   - length: bytes of its log.
  /// - Returns: nil if there is none, or the copy has no digest to know it by.
  /// - Throws: ``Platform/SystemError``.
  package func restored(from original: Sidecar, length: ByteCount) throws -> SessionID? {
    guard let digest = original.digest ?? original.seal?.digest else { return nil }
    return try home.sessions(day: original.startedAt.day).first { session in
      let local = LocalSession(home, session)
      guard let sidecar = try? Sidecar.load(local.files.sidecar),
        sidecar.continues == original.sessionId, let log = try local.openLog(sidecar.source),
        try log.available() == 0..<StreamOffset(length)
      else { return false }
      return try log.digest() == digest
    }
  }

  /// Restores a session.
  ///
  /// If it fails, nothing of the new session remains.
  ///
  /// - Parameters:
  ///   - original: the sidecar of the copy.
  ///   - length: expected bytes of log; 0 if unknown.
  ///   - mark: now, in the home's lived time, from which its age counts.
  ///   - lock: acquires the home's lock, once the log has been read: uploads continue until then.
  ///   - read: passes the log to a function, in pieces.
  /// - Returns: the new session.
  /// - Throws: ``Platform/SystemError``, ``Platform/SpaceShortage``, and errors of `lock` and
  ///   `read`.
  package func restore(
    _ original: Sidecar, length: ByteCount, agingFrom mark: LivedTime.Mark,
    locking lock: () async throws -> HomeLock,
    _ read: (_ write: (UnsafeRawBufferPointer) throws -> Void) async throws -> Void
  ) async throws -> SessionID {
    let session = SessionID.make(at: original.startedAt, by: machine)
    let files = home.files(for: session)
    var watch = try space.watch(length, in: home.path, for: "\(original.sessionId)")
    // Files of a killed process with this ending are deleted after a day. The cache may be on another
    // file system.
    let partial = files.log + ".tmp"
    try Directory.make(files.directory, isDurable: true)
    do {
      let bytes = try await write(to: partial, &watch, read)
      var sidecar = sidecar(of: original, as: session, bytes: bytes)
      sidecar.agesFrom = mark
      let lock = try await lock()
      defer { withExtendedLifetime(lock) {} }
      lock.expect(home)
      guard let own = try FileLock.tryExclusive(files.lock) else {
        throw SystemError(operation: "lock", path: files.lock, errno: SystemError.Number.again)
      }
      defer { withExtendedLifetime(own) {} }
      // Before the log, or no pass would find that for a day; without one it is removed after an hour.
      try home.mark(session)
      // A killed process leaves a log without a sidecar, whose bytes are sent, rather than a sidecar
      // whose log is missing for ever.
      try File.rename(partial, to: files.log)
      try sidecar.save(files.sidecar)
      try Directory.synchronize(files.directory)
    } catch {
      for path in [partial, files.log, files.sidecar, files.lock, files.marker] {
        try? File.remove(path)
      }
      Directory.removeIfEmpty(files.directory)
      throw error
    }
    return session
  }

  private func write(
    to path: String, _ watch: inout FreeSpace.Watch,
    _ read: (_ write: (UnsafeRawBufferPointer) throws -> Void) async throws -> Void
  ) async throws -> ByteCount {
    let file = try Descriptor(opening: path, [.write, .create, .empty])
    var (room, bytes) = (watch, ByteCount.zero)
    try await read { piece in
      try room.count(piece.count)
      try file.write(piece)
      bytes += ByteCount(piece.count)
    }
    watch = room
    try file.synchronize()
    return bytes
  }

  /// The original's sidecar, without fields that belong to its own copies.
  private func sidecar(of original: Sidecar, as session: SessionID, bytes: ByteCount) -> Sidecar {
    var sidecar = original.remoteForm
    sidecar.sessionId = session
    sidecar.continues = original.sessionId
    sidecar.fileName = "\(session).log"
    sidecar.deviceId = device.deviceId
    sidecar.uid = nil
    (sidecar.fileSizeBytes, sidecar.lost) = (bytes, nil)
    if sidecar.status == .active { sidecar.status = .terminated }
    sidecar.endedAt = original.endedAt ?? original.lastUpdatedAt
    // Earlier generations, and what they are counted from, are the original's.
    (sidecar.generation, sidecar.former, sidecar.givenUp) = (nil, nil, nil)
    sidecar.digest = nil
    (sidecar.objects, sidecar.basis, sidecar.indexes) = (nil, nil, nil)
    (sidecar.redaction, sidecar.redacted, sidecar.clockOffset) = (nil, nil, nil)
    // Only log bytes that had been sent are restored: they may be sent again.
    sidecar.consent = nil
    return sidecar
  }
}
