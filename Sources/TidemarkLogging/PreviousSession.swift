import LogRecords
public import Platform
public import SessionLog

/// How the program's session before this one ended.
public struct PreviousSession: Sendable, Equatable {
  /// The session.
  public let id: SessionID
  /// When it began.
  public let startedAt: Timestamp
  /// When it ended, as precisely as known.
  public let endedAt: Timestamp
  /// Terminated or crashed; active if unknown, as for another machine's session.
  public let status: SessionStatus
  /// Why it ended, if known.
  public let cause: ExitCause?

  /// Whether it was killed, trapped or vanished.
  public var hasCrashed: Bool { status == .crashed }

  /// Maximum number of sidecars read in the search.
  private static let most = 500

  /// Finds the newest session of a program that is no longer running.
  ///
  /// If it was killed and may have lost captured output, a GAP record is written into it.
  static func find(
    app: String, before own: SessionID?, in home: Home, on machine: Machine
  ) -> PreviousSession? {
    var looked = 0
    for day in ((try? home.days()) ?? []).reversed() {
      for session in ((try? home.sessions(day: day)) ?? []).reversed() where session != own {
        looked += 1
        guard looked <= most else { return nil }
        let files = home.files(for: session)
        guard let sidecar = try? Sidecar.load(files.sidecar), sidecar.appName == app,
          sidecar.source == nil
        else { continue }
        // A process that holds the lock is alive.
        guard sidecar.status != .active || File.exists(files.lock) else { continue }
        let lock = sidecar.status == .active ? try? FileLock.tryExclusive(files.lock) : nil
        if sidecar.status == .active, lock == nil { continue }
        return PreviousSession(sidecar, files, holding: lock, on: machine)
      }
    }
    return nil
  }

  private init(
    _ sidecar: Sidecar, _ files: SessionFiles, holding lock: FileLock?, on machine: Machine
  ) {
    let modified = (try? RecordedLog(files).extent().modified) ?? sidecar.lastUpdatedAt
    let verdict = try? Verdict.reach(
      sidecar: sidecar, files: files, lockGranted: true, machine: machine, now: machine.now(),
      logModified: modified)
    id = sidecar.sessionId
    startedAt = sidecar.startedAt
    endedAt = verdict?.endedAt ?? modified
    status = verdict?.status ?? .active
    cause = verdict?.cause
    if let lock { Self.recordLostOutput(sidecar, files, cause, holding: lock, on: machine) }
  }

  /// Records that a killed process's last output may be missing.
  private static func recordLostOutput(
    _ sidecar: Sidecar, _ files: SessionFiles, _ cause: ExitCause?, holding lock: FileLock,
    on machine: Machine
  ) {
    guard sidecar.recorder?.capturesConsole == true, File.exists(files.marker),
      cause == .recorderLost || cause == .outOfMemory || cause == .reboot,
      var log = try? LiveLog(files, rotateAt: 0)
    else { return }
    let reason = "killed while its output was on its way"
    let tail = (try? RecordedLog(files).tail(512)) ?? []
    guard !String(decoding: tail, as: UTF8.self).contains(reason) else { return }
    let line = (tail.last ?? 0x0a) == 0x0a ? [] : [UInt8(0x0a)]
    let record = line + GapLine.record(nil, reason, at: machine.now())
    _ = record.withUnsafeBytes { log.append($0) }
    withExtendedLifetime(lock) {}
  }
}
