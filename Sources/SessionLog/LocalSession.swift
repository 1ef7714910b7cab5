package import Platform

/// A session in the home.
package struct LocalSession {
  package let home: Home
  package let session: SessionID
  package let files: SessionFiles

  package init(_ home: Home, _ session: SessionID) {
    self.home = home
    self.session = session
    files = home.files(for: session)
  }

  package var hasSidecar: Bool { File.exists(files.sidecar) }

  /// Whether it has a sidecar.
  ///
  /// - Throws: ``Platform/SystemError`` if that is unknown.
  package func isHere() throws -> Bool { try FileStatus(files.sidecar) != nil }

  /// Whether the sidecar says it is sealed.
  package var isSealed: Bool { (try? Sidecar.load(files.sidecar))?.seal != nil }

  /// Whether an upload would find anything of it on this machine.
  ///
  /// - Throws: ``Platform/SystemError``.
  package var isLocal: Bool {
    get throws { try hasSidecar || File.exists(files.marker) || logBytes() > 0 }
  }

  /// The path of the sidecar, in its folder or else in the trash; nil if there is none.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func sidecarPath() throws -> String? {
    try hasSidecar ? files.sidecar : Trash(home).sidecarPath(of: session)
  }

  /// The sidecar, reconstructed from the id if it is missing or damaged.
  ///
  /// - Returns: the sidecar, and whether the one on disk was unreadable.
  package func sidecar(device: Device) throws -> (sidecar: Sidecar, isDamaged: Bool) {
    let found = try sidecarAsFound(device: device)
    return (found.sidecar, found.isDamaged)
  }

  /// The sidecar, and the device that it names if that is another one.
  package func sidecarAsFound(
    device: Device
  ) throws -> (sidecar: Sidecar, isDamaged: Bool, formerDevice: String?) {
    var sidecar: Sidecar
    var isDamaged = false
    do {
      sidecar = try Sidecar.load(files.sidecar)
    } catch is SidecarError {
      (sidecar, isDamaged) = (Sidecar.reconstructed(id: session, device: device), true)
    }
    var former: String?
    if sidecar.seal == nil, sidecar.deviceId != device.deviceId {
      // Until it is sealed it is sent under this device's id, even if the home had another one
      // before it was copied, moved, or lost its device record. The id of a sealed one locates its
      // objects.
      former = sidecar.deviceId
      sidecar.deviceId = device.deviceId
      // What an attached file held before it was rewritten stays there.
      (sidecar.former, sidecar.givenUp) = (nil, nil)
    }
    sidecar.bind(to: home.owner, of: device)
    return (sidecar, isDamaged, former)
  }

  /// How the session ended; nil while a process writes it, or if the end is unknown.
  package func verdict(
    _ sidecar: Sidecar, machine: Machine, now: Timestamp, modified: Timestamp
  ) throws -> Verdict? {
    let lock = try FileLock.tryExclusive(files.lock)
    defer { withExtendedLifetime(lock) {} }
    return try Verdict.reach(
      sidecar: sidecar, files: files, lockGranted: lock != nil, machine: machine, now: now,
      logModified: modified)
  }

  /// Size of the log and its parts on disk, in bytes.
  ///
  /// Reads the folder, so that no part is missed.
  package func logBytes() throws -> ByteCount { try logBytes(with: files.namedParts()) }

  /// The same without reading the folder of a session that seems never to have been rotated.
  package func apparentLogBytes() throws -> ByteCount { try logBytes(with: files.parts()) }

  private func logBytes(with parts: [LogPart]) throws -> ByteCount {
    try ([files.log] + parts.flatMap { [$0.plain, $0.compressed] })
      .reduce(0) { try $0 + ByteCount(FileStatus($1)?.length ?? 0) }
  }

  /// Removes the remaining files of a session without log bytes on this machine.
  ///
  /// Only ``RecordedDeletions`` removes log bytes.
  ///
  /// - Throws: ``Platform/SystemError``, also if there are log bytes.
  package func removeTraces() throws {
    guard try logBytes() == 0 else {
      throw SystemError(
        operation: "remove the traces of the session that has",
        path: files.log, errno: SystemError.Number.taken)
    }
    for path in try [files.log] + traces() + [files.sidecar] { try File.remove(path) }
    Directory.removeIfEmpty(files.directory)
  }

  /// The marker and all files without log bytes but the sidecar, and what killed processes left.
  ///
  /// Only names that are known: whatever else is beside a log may be the only copy of something.
  package func traces() throws -> [String] {
    func names(in directory: String) throws -> [String] {
      try Directory.names(in: directory).filter { $0.hasPrefix("\(session).") }
    }
    let known = Set([files.lock, files.reserve, files.uploadState, files.rotated])
    let beside = try names(in: files.directory).map { "\(files.directory)/\($0)" }
      .filter { known.contains($0) || $0.hasSuffix(".tmp") }
    let cached = try names(in: home.cachePath).map { "\(home.cachePath)/\($0)" }
    return cached + beside + [files.declared, files.marker]
  }
}
