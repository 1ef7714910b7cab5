package import Platform
import Replica
package import SessionLog

/// Finds the sessions of a home that have crashed, by a verdict at this moment.
package enum CrashedSessions {
  /// The crashed ones of some sessions.
  ///
  /// - Parameters:
  ///   - sessions: the sessions to examine.
  ///   - home: their home.
  ///   - device: its device.
  ///   - machine: reaches the verdicts.
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
