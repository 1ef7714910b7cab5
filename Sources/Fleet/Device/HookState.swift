import Foundation
package import Platform
package import SessionLog

/// What a home remembers of the commands that it runs for a crash or a stall.
package struct HookState: Sendable, Codable, Equatable {
  /// Sessions whose crash was told, and when.
  package var crashes: [String: Timestamp] = [:]
  /// Sessions whose crash is to be told, also where they are sealed meanwhile.
  package private(set) var waiting: Set<String>?
  /// When a stall was told last; nil while uploads go well.
  package var staleToldAt: Timestamp?

  /// Knows nothing.
  package init() {}

  /// How long a crash is remembered that was told; its session is sealed long before.
  private static let memory = Duration.days(30)
  /// How often a stall is told while it lasts.
  private static let staleInterval = Duration.days(1)
  /// What a home did not tell that long ago is no news when it begins to.
  private static let newsAge = Duration.hours(1)

  /// What is remembered in a file; nil where there is none.
  ///
  /// A damaged one counts as none.
  ///
  /// - Throws: ``Platform/SystemError``.
  package static func load(_ path: String) throws -> HookState? {
    do {
      return try JSONDecoder().decode(HookState.self, from: Data(AtomicFile.read(path)))
    } catch let error as SystemError where error.isNotFound {
      return nil
    } catch is DecodingError {
      return nil
    }
  }

  /// Replaces the file, durably.
  ///
  /// - Throws: ``Platform/SystemError``; `EncodingError`.
  package func save(_ path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try AtomicFile.write(Array(try encoder.encode(self)) + [0x0a], to: path)
  }

  /// Which crashes are to be told now.
  ///
  /// - Parameters:
  ///   - crashed: sessions that have crashed and are not sealed, or were not a moment ago.
  ///   - known: what is remembered; nil where nothing is: then old crashes are no news.
  ///   - now: the time.
  /// - Returns: those to tell, the oldest first, and what is to be remembered before.
  package static func due(
    _ crashed: [Sidecar], _ known: HookState?, at now: Timestamp
  ) -> (crashes: [Sidecar], state: HookState) {
    var state = known ?? HookState()
    state.crashes = state.crashes.filter { (now - $0.value).magnitude < memory }
    var due: [Sidecar] = []
    for sidecar in crashed.sorted(by: { $0.sessionId < $1.sessionId })
    where state.crashes[sidecar.sessionId.description] == nil {
      let end = sidecar.endedAt ?? sidecar.lastUpdatedAt
      if known != nil || now - end < newsAge {
        due.append(sidecar)
        state.waiting = (state.waiting ?? []).union([sidecar.sessionId.description])
      } else {
        state.markTold(sidecar, at: now)
      }
    }
    return (due, state)
  }

  /// Takes note that a crash was told, or is not to be.
  package mutating func markTold(_ sidecar: Sidecar, at now: Timestamp) {
    let session = sidecar.sessionId.description
    crashes[session] = now
    waiting?.remove(session)
    if waiting?.isEmpty == true { waiting = nil }
  }

  /// Forgets what waits and is not there any more.
  mutating func keepWaiting(_ crashed: [Sidecar]) {
    let sessions = waiting?.intersection(crashed.map(\.sessionId.description)) ?? []
    waiting = sessions.isEmpty ? nil : sessions
  }

  /// Whether a stall is to be told now; takes note of it.
  package mutating func isStaleDue(_ isStale: Bool, at now: Timestamp) -> Bool {
    guard isStale else {
      staleToldAt = nil
      return false
    }
    if let last = staleToldAt, (now - last).magnitude < Self.staleInterval { return false }
    staleToldAt = now
    return true
  }
}
