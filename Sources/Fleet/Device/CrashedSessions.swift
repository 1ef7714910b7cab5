package import Platform
import Replica
package import SessionLog

/// The sessions of a home that have crashed, judged here and now.
package enum CrashedSessions {
  /// Those of some sessions that have.
  ///
  /// - Parameters:
  ///   - sessions: which to look at.
  ///   - home: where they are.
  ///   - device: its device.
  ///   - machine: judges.
  /// - Throws: ``Platform/SystemError``.
  package static func find(
    _ sessions: [SessionID], in home: Home, device: Device, machine: Machine
  ) throws -> [Sidecar] {
    try sessions.compactMap { session in
      let local = LocalSession(home, session)
      guard local.hasSidecar else { return nil }
      var (sidecar, isDamaged) = try local.sidecar(device: device)
      guard !isDamaged else { return nil }
      if sidecar.status == .active {
        let modified = try local.openLog(sidecar.source)?.status().modified
        guard
          let verdict = try local.verdict(
            sidecar, machine: machine, now: machine.now(),
            modified: modified ?? sidecar.lastUpdatedAt)
        else { return nil }
        (sidecar.status, sidecar.cause, sidecar.endedAt) = (
          verdict.status, verdict.cause, verdict.endedAt
        )
      }
      return sidecar.status == .crashed ? sidecar : nil
    }
  }
}
