import Foundation
import ObjectStore
import Platform
import SessionLog

/// The requests of a home's uploads so far.
struct RequestTotals {
  private let path: String

  init(_ home: Home) { path = home.cachePath + "/requests.json" }

  /// The totals; zero if they were lost.
  var counts: RequestCounts {
    (try? AtomicFile.read(path)).flatMap {
      try? JSONDecoder().decode(RequestCounts.self, from: Data($0))
    } ?? RequestCounts()
  }

  /// Adds those of an upload; writes nothing if there were none.
  func add(_ counts: RequestCounts) {
    guard counts != RequestCounts() else { return }
    var total = self.counts
    total.add(counts)
    guard let json = try? JSONEncoder().encode(total) else { return }
    // A lost count does no harm, and a full disk is reported elsewhere.
    try? AtomicFile.write(Array(json), to: path, isDurable: false)
  }
}
