import Fleet
import Platform
import SessionLog
import SessionReading
import Sync

extension CommandContext {
  /// The home's metrics for a collector.
  func metrics() async throws -> DeviceMetrics {
    let context = try contextIfReadable()
    let plan = try context.map { try Uploader($0).plan() }
    let entry = try context?.storeEntry()
    var metrics = DeviceMetrics()
    metrics.user = home.owner?.name
    metrics.lastSuccess = entry?.lastSuccess
    metrics.isCacheUnreadable = context != nil && UnreadableCache.problem(of: home) != nil
    metrics.vanished = context.map { VanishedCopies(of: $0).copies.count } ?? 0
    let growth = try growth(found: attacher(context), besides: plan)
    let waits = plan?.waits(besides: growth, consent: consent) ?? false
    metrics.isStale = entry?.isStale(after: settings.staleAfter, at: .now(), waits: waits) == true
    for sum in plan?.sumsSinceLastPass(growth) ?? [] {
      metrics.unsent[sum.reason.code, default: 0] += sum.bytes
    }
    metrics.unproven = plan?.unproven ?? 0
    metrics.requests = RequestTotals(home).counts
    let now = Timestamp.now()
    metrics.sessions = ["active": 0, "crashed": 0, "terminated": 0]
    let reading = try self.reading(with: nil)
    for entry in try await SessionCatalog(reading).entries(devices: []) {
      var (status, end) = (entry.sidecar.status, entry.sidecar.endedAt)
      if status == .active, !entry.isRunning,
        let crash = try CrashedSessions.find(
          [entry.session], in: home, device: device, machine: .current
        ).first
      {
        (status, end) = (crash.status, crash.endedAt)
      }
      metrics.sessions[status.rawValue.lowercased(), default: 0] += 1
      let ended = end ?? entry.lastActivity
      if status == .crashed, now - ended < .hours(24) { metrics.crashes += 1 }
    }
    return metrics
  }
}
