package import Platform
package import SessionLog

/// Makes a new session of this machine out of a copy of another one's log.
///
/// The new session has ended, says in `continues` which one it was, and is uploaded like any other.
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

  /// Restores a session.
  ///
  /// Where it fails nothing is left of the new session.
  ///
  /// - Parameters:
  ///   - original: the sidecar of the copy.
  ///   - length: bytes of log to expect; 0 where that is not known.
  ///   - mark: now, in the home's lived time: it ages from then on.
  ///   - lock: takes the home's lock, once the log has been read: uploads go on until then.
  ///   - read: hands the log to the function that it is given, in pieces.
  /// - Returns: the new session.
  /// - Throws: ``Platform/SystemError``, ``Platform/SpaceShortage``, and what `lock` and `read` throw.
  package func restore(
    _ original: Sidecar, length: ByteCount, agingFrom mark: LivedTime.Mark,
    locking lock: () async throws -> HomeLock,
    _ read: (_ write: (UnsafeRawBufferPointer) throws -> Void) async throws -> Void
  ) async throws -> SessionID {
    let session = SessionID.make(at: original.startedAt, by: machine)
    let files = home.files(for: session)
    var watch = try space.watch(length, in: home.path, for: "\(original.sessionId)")
    // Until the sidecar is there, the log must not be taken for one that lost its recorder; what a
    // killed process leaves in the cache goes after a day.
    let partial = "\(home.cachePath)/\(session).log.tmp"
    do {
      let bytes = try await write(to: partial, &watch, read)
      var sidecar = sidecar(of: original, as: session, bytes: bytes)
      sidecar.agesFrom = mark
      let lock = try await lock()
      defer { withExtendedLifetime(lock) {} }
      lock.expect(home)
      // A reaper may have removed the day's folder while it was empty.
      try Directory.make(files.directory, isDurable: true)
      try sidecar.save(files.sidecar)
      try File.rename(partial, to: files.log)
      try Directory.synchronize(files.directory)
      try home.mark(session)
    } catch {
      for path in [partial, files.log, files.sidecar] { try? File.remove(path) }
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
      try room.take(piece.count)
      try file.write(piece)
      bytes += ByteCount(piece.count)
    }
    watch = room
    try file.synchronize()
    return bytes
  }

  /// What is known of the original, without what only its own copies have.
  private func sidecar(of original: Sidecar, as session: SessionID, bytes: ByteCount) -> Sidecar {
    var sidecar = original.remoteForm
    sidecar.sessionId = session
    sidecar.continues = original.sessionId
    sidecar.fileName = "\(session).log"
    sidecar.deviceId = device.deviceId
    sidecar.uid = nil
    sidecar.fileSizeBytes = bytes
    if sidecar.status == .active { sidecar.status = .terminated }
    sidecar.endedAt = original.endedAt ?? original.lastUpdatedAt
    (sidecar.generation, sidecar.digest, sidecar.basis, sidecar.objects) = (nil, nil, nil, nil)
    (sidecar.redaction, sidecar.redacted, sidecar.clockOffset) = (nil, nil, nil)
    // Only what had left the machine is restored: it may leave again.
    sidecar.consent = nil
    return sidecar
  }
}
