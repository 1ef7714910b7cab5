import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TidemarkUpload

extension Command {
  /// Uploads from all homes of a machine as root does: from the others first, then from its own.
  ///
  /// All run in one process, one after the other.
  static func upload(from own: Command, and others: [Command]) async throws -> String {
    let manifests = Guarded<[() -> Bool]>([])
    var outcomes: [String] = []
    var round = UploadRound(others.map(\.home), random: own.machine.random)
    repeat {
      while let home = round.next() {
        guard let command = others.first(where: { $0.home == home }) else { continue }
        do {
          let report = try await command.pass(command.policy, manifests)
          outcomes.append(outcome(report))
          round.ended(home, .init(on: home, report))
        } catch {
          // As if its user had made the process crash.
          outcomes.append("fails: \(error)")
          round.ended(home, nil)
        }
      }
    } while await round.continues(asking: own.isStoreDown)
    let result: Result<Void, any Error>
    do {
      if !round.isStopped {
        var policy = own.policy
        policy.openElsewhere = round.open
        outcomes.append(outcome(try await own.pass(policy, manifests)))
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    while manifests.withLock({ !$0.allSatisfy { $0() } }) { await Task.yield() }
    try result.get()
    return "round: \(outcomes.joined(separator: ", "))"
  }

  private static func outcome(_ report: UploadPassReport?) -> String {
    report.map { "objects \($0.upload.objects) sealed \($0.upload.sealed)" } ?? "busy"
  }

  /// A pass over one home; adds whether its manifest is closed.
  private func pass(
    _ policy: UploadPolicy, _ manifests: Guarded<[() -> Bool]>
  ) async throws -> UploadPassReport? {
    let report = try await HomePass(home, policy) {
      try home.create()
      let context = try makeContext()
      manifests.withLock { $0.append { [weak manifest = context.manifest] in manifest == nil } }
      return context
    }.run()
    if let report { oracle.record(report, of: home, consent: consent) }
    return report
  }

  private func isStoreDown() async -> Bool {
    (try? await FormatMarker.isWhole(in: store)) != true
  }
}
