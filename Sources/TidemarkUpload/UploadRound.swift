import ObjectStore
package import SessionLog
package import Sync

/// One pass over each of several users' homes: their order, the requests that each may send, and
/// whether the remaining ones are left to the next round.
///
/// Nothing that happens in one home stops the others, and no report does: its user may have forged
/// it. Where one claims that the store is down, the store is asked.
package struct UploadRound {
  /// What a home's pass reports; nothing if it was ended before it could.
  package struct Report: Codable, Sendable {
    /// The home's unsealed sessions; nil if unknown.
    package let open: [SessionID]?
    /// Whether the store failed for all sessions.
    package let isStoreDown: Bool

    /// Reports on a home.
    ///
    /// - Parameters:
    ///   - home: the home; read with the present rights.
    ///   - pass: what its pass did; nil if it failed, or did not run.
    package init(on home: Home, _ pass: UploadPassReport?) {
      open = try? home.openSessions()
      // One home reaching its limit says nothing about the others.
      let isSpent = (pass?.upload.stoppedBy as? StoreError)?.code == .exhausted
      isStoreDown = pass?.isStoreDown == true && !isSpent
    }
  }

  /// Maximum number of requests of each pass; nil for no limit.
  package let requests: Int?
  /// Sessions that may be open in the homes, as far as they were visited.
  package private(set) var open: OpenSessions
  /// Whether the remaining homes are left to the next round, because the store is down.
  package private(set) var isStopped = false
  /// Whether a report claims that the store is down.
  private var isDoubted = false
  private var homes: ArraySlice<Home>

  /// Plans a round.
  ///
  /// - Parameters:
  ///   - homes: the homes that have something to upload.
  ///   - open: sessions that may be open in other homes of the machine.
  ///   - maximum: maximum number of requests of all passes; nil for no limit.
  ///   - random: a random number, so that no user can influence the order.
  package init(
    _ homes: [Home], besides open: OpenSessions = .none, maxRequests maximum: Int? = nil,
    random: () -> UInt64
  ) {
    let order = homes.map { (key: random(), home: $0) }.sorted { $0.key < $1.key }.map(\.home)
    let share = RequestShare(of: maximum, among: order.count)
    self.homes = order[...]
    self.open = open
    requests = share.requests
    while self.homes.count > share.homes { leave(self.homes.removeLast()) }
  }

  /// Returns the home to begin with now; nil after the last, and while the store may be down.
  package mutating func next() -> Home? { isDoubted || isStopped ? nil : homes.popFirst() }

  /// Records the end of a home's pass.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - report: its report; nil without one.
  package mutating func ended(_ home: Home, _ report: Report?) {
    if let sessions = report?.open { open.add(sessions) } else { leave(home) }
    isDoubted = isDoubted || report?.isStoreDown == true
  }

  /// Decides whether to continue, once all passes that were begun have ended.
  ///
  /// - Parameter isStoreDown: asks the store.
  /// - Returns: whether ``next()`` may return further homes.
  package mutating func continues(asking isStoreDown: () async -> Bool) async -> Bool {
    if isDoubted { isStopped = await isStoreDown() }
    isDoubted = false
    if isStopped { while let home = homes.popFirst() { leave(home) } }
    return !homes.isEmpty
  }

  /// Without a report, any session of the home may be open.
  private mutating func leave(_ home: Home) { open.addUnknown(home) }
}
