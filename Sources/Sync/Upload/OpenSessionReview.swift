import Foundation
import Logging
import Platform
import Replica
package import SessionLog

/// Makes sure, once a boot and once a day, that nothing an upload goes by has been lost or changed
/// behind its back: the markers that lead it to sessions, and what its cache knows of the store.
///
/// A power cut may take a marker whose log is safe, and anybody with the right to may delete objects.
package struct OpenSessionReview {
  private let context: SyncContext

  /// Makes a review.
  package init(_ context: SyncContext) { self.context = context }

  /// Time between two reviews.
  private static let interval = Duration.days(1)

  /// The last review; in the cache, so that one is due when that is lost.
  private struct Last: Codable {
    let boot: String
    let at: Timestamp
  }

  private var path: String { context.home.cachePath + "/review.json" }

  /// Reviews the home's sessions where that is due; a review that fails is left to the next pass.
  package func runIfDue(holding lock: HomeLock) {
    lock.expect(context.home)
    do {
      try reviewIfDue()
    } catch {
      context.logger.warning("open sessions were not reviewed: \(error)")
    }
  }

  private func reviewIfDue() throws {
    let now = context.now()
    let last = last
    let isRecent =
      last.map { (.zero..<Self.interval).contains(now - $0.at) } == true
      && last?.boot == context.machine.bootId
    guard !isRecent else { return }
    try restoreMarkers()
    // What is known of open sessions counts again once a listing has confirmed it.
    try context.manifest.distrustSessions()
    save(Last(boot: context.machine.bootId, at: now))
  }

  private func restoreMarkers() throws {
    let home = context.home
    let open = Set(try home.openSessions())
    for day in try home.days() {
      for session in try home.sessions(day: day) where !open.contains(session) {
        guard mayBeUnsealed(LocalSession(home, session)) else { continue }
        context.logger.notice("\(session): its marker in \(home.openPath) was missing")
        try home.mark(session)
      }
    }
  }

  /// Whether a session is not sealed; where its sidecar is lost, a listing has to tell.
  private func mayBeUnsealed(_ local: LocalSession) -> Bool {
    do {
      return try Sidecar.load(local.files.sidecar).seal == nil
    } catch is SidecarError {
      return (try? local.openLog(nil)).flatMap(\.self) != nil
    } catch {
      return false
    }
  }

  private var last: Last? {
    guard let bytes = try? AtomicFile.read(path) else { return nil }
    return try? JSONDecoder().decode(Last.self, from: Data(bytes))
  }

  /// What cannot be saved, on a full disk say, is reviewed again by the next pass.
  private func save(_ last: Last) {
    guard let json = try? JSONEncoder().encode(last) else { return }
    try? AtomicFile.write(Array(json), to: path, isDurable: false)
  }
}
