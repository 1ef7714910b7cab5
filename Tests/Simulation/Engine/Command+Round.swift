import Platform
import SessionLog
import Sync
import TidemarkUpload

extension Command {
  /// Uploads from all homes of a machine, one after the other in one process.
  static func upload(_ places: [Command]) async throws -> String {
    let manifests = Guarded<[() -> Bool]>([])
    let sites = places.map { place in
      UploadRound.Site(place.home, place.policy) {
        try place.home.create()
        let context = try place.makeContext()
        manifests.withLock { $0.append { [weak manifest = context.manifest] in manifest == nil } }
        return context
      }
    }
    var round = UploadRound()
    round.isFatal = { _ in false }
    var outcomes: [String] = []
    let result: Result<Void, any Error>
    do {
      try await round.run(sites, observe: { _ in { _ in } }) { site, outcome in
        switch outcome {
        case .done(let report):
          places[0].oracle.record(report.upload, of: site.home)
          outcomes.append("objects \(report.upload.objects) sealed \(report.upload.sealed)")
        case .busy: outcomes.append("busy")
        case .failed(let error): outcomes.append("fails: \(error)")
        }
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    while manifests.withLock({ !$0.allSatisfy { $0() } }) { await Task.yield() }
    try result.get()
    return "round: \(outcomes.joined(separator: ", "))"
  }
}
