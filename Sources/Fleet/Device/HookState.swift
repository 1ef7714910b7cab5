import Foundation
package import Platform
package import SessionLog

/// The state of the commands that a home runs on a crash or a stall.
package struct HookState: Sendable, Codable, Equatable {
  /// Sessions whose crash was reported, and when.
  package var crashes: [String: Timestamp] = [:]
  /// Sessions whose crash is still to be reported, sealed or not.
  package private(set) var waiting: Set<String>?
  /// When a stall was last reported; nil while uploads succeed.
  package var staleToldAt: Timestamp?

  /// An empty state.
  package init() {}

  /// How long a reported crash is remembered; its session is sealed long before.
  private static let memory = Duration.days(30)
  /// How often a stall is reported while it lasts.
  private static let staleInterval = Duration.days(1)
  /// The maximum age of crashes that are reported when hooks are first configured.
  private static let newsAge = Duration.hours(1)

  /// Reads the state from a file; nil if there is none.
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

  /// The crashes to report now.
  ///
  /// - Parameters:
  ///   - crashed: sessions that have crashed and are not sealed, or were not a moment ago.
  ///   - known: the saved state; nil if there is none: then old crashes are not reported.
  ///   - now: the time.
  /// - Returns: those to report, oldest first, and the state to save before.
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

  /// Records that a crash was reported or is to be skipped.
  package mutating func markTold(_ sidecar: Sidecar, at now: Timestamp) {
    let session = sidecar.sessionId.description
    crashes[session] = now
    waiting?.remove(session)
    if waiting?.isEmpty == true { waiting = nil }
  }

  /// Forgets waiting sessions that no longer exist.
  mutating func keepWaiting(_ crashed: [Sidecar]) {
    let sessions = waiting?.intersection(crashed.map(\.sessionId.description)) ?? []
    waiting = sessions.isEmpty ? nil : sessions
  }

  /// Whether to report a stall now; records it.
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
