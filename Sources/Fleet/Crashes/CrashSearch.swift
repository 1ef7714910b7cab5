package import ObjectStore
package import Platform
package import Replica
import SessionLog

/// Finds the sessions in a store that ended badly; object names show which, so that only their
/// sidecars are fetched.
package struct CrashSearch: Sendable {
  private let store: any ObjectStore
  private let keys: KnownKeys?
  private let since: Timestamp
  private let now: Timestamp
  private let includesFailures: Bool

  /// Makes a search.
  ///
  /// - Parameters:
  ///   - store: the store to read.
  ///   - keys: the keys that revisions must be signed with; nil to skip that check.
  ///   - since: the earliest end.
  ///   - now: the time.
  ///   - includesFailures: whether to include nonzero exits; that requires the sidecar of each
  ///     ended session.
  package init(
    _ store: any ObjectStore, knowing keys: KnownKeys?, since: Timestamp, at now: Timestamp,
    includesFailures: Bool
  ) {
    (self.store, self.keys) = (store, keys)
    (self.since, self.now, self.includesFailures) = (since, now, includesFailures)
  }

  /// How far a clock may be off without hiding a crash.
  private static let slack = Duration.days(1)

  /// Finds the crashes.
  ///
  /// - Parameters:
  ///   - devices: ids.
  ///   - report: called with a line for each session whose sidecar is damaged, missing, or not its
  ///     device's.
  /// - Throws: ``ObjectStore/StoreError``.
  package func crashes(
    of devices: [String], report: (String) -> Void
  ) async throws -> [CrashReport] {
    let oldest = (since - Self.slack).assumingSynchronizedClocks
    var found: [CrashReport] = []
    try await FolderListing.forEach(of: devices, in: store) { listing in
      let wanted = listing.sessions.values.filter { session in
        // An object written before that cannot describe a later end, if clocks agree to a day.
        guard session.newest.map({ $0 >= oldest }) ?? true else { return false }
        return session.seal.map { $0.status == .crashed || includesFailures } ?? false
          // A clock that is off delays that, or has one revision more read.
          || session.mayBeForged(at: now.assumingSynchronizedClocks)
      }
      let reader = RemoteReader(store, knowing: keys)
      try await wanted.sorted { $0.session < $1.session }.concurrentForEach { session in
        try await Self.sidecar(of: session, by: reader)
      } _: { sidecar, problem in
        if let problem { report(problem) }
        guard let sidecar, sidecar.status == .crashed || sidecar.cause?.isFailure == true else {
          return
        }
        let crash = CrashReport(sidecar)
        if crash.endedAt >= since { found.append(crash) }
      }
    }
    return found
  }

  private static func sidecar(
    of session: RemoteSession, by reader: RemoteReader
  ) async throws -> (Sidecar?, String?) {
    do {
      let sidecar = try await reader.accept(session).sidecar
      return (session.seal == nil ? nil : sidecar, nil)
    } catch let error as ReplicaError {
      return (nil, AlertScan.problem(session.session, error))
    } catch let error as StoreError where error.isNotFound {
      return (nil, nil)
    }
  }
}
