import Foundation
import ObjectStore
import Platform
import SessionLog

/// The requests that a home's uploads have made so far.
struct RequestTotals {
  private let path: String

  init(_ home: Home) { path = home.cachePath + "/requests.json" }

  /// What is known; nothing where that was lost.
  var counts: RequestCounts {
    (try? AtomicFile.read(path)).flatMap {
      try? JSONDecoder().decode(RequestCounts.self, from: Data($0))
    } ?? RequestCounts()
  }

  /// Adds those of an upload; one that made none writes nothing.
  func add(_ counts: RequestCounts) {
    guard counts != RequestCounts() else { return }
    var total = self.counts
    total.add(counts)
    guard let json = try? JSONEncoder().encode(total) else { return }
    // A count that is lost harms nobody, and a full disk is reported elsewhere.
    try? AtomicFile.write(Array(json), to: path, isDurable: false)
  }
}
