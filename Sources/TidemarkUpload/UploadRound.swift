import ObjectStore
import Platform
package import SessionLog
package import Sync

/// One pass over each home that a process uploads from: its own or, for root on a machine that is
/// configured for all users, everybody's.
package struct UploadRound {
  /// A home to upload from.
  package struct Site {
    /// The home.
    package let home: Home
    /// Its configuration.
    package let policy: UploadPolicy
    /// Opens its cache and its store, with its owner's rights.
    package let context: () throws -> SyncContext

    /// Describes a home.
    package init(
      _ home: Home, _ policy: UploadPolicy, context: @escaping () throws -> SyncContext
    ) {
      self.home = home
      self.policy = policy
      self.context = context
    }
  }

  /// The result for one home.
  package enum Outcome<Result> {
    /// Its turn has come, and this is what it came to.
    case done(Result)
    /// Another upload of the home is running, and does this one's work.
    case busy
    /// This home's error; the others are not concerned.
    case failed(any Error)
  }

  /// How long to wait for another upload of a home to end.
  package var patience = Duration.zero
  /// Waits between two looks at a lock that another process has.
  package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Sessions that may be open in homes that have no turn.
  package var openElsewhere = OpenSessions.none
  /// Whether an error concerns all homes.
  package var isFatal: (any Error) -> Bool = { _ in true }

  /// Waits for nothing, and stops at the first error.
  package init() {}

  /// Makes the passes.
  ///
  /// An error of one home does not stop the others; a failing store does.
  ///
  /// - Parameters:
  ///   - sites: the homes.
  ///   - observe: gives what hears of a home's pass while it goes on.
  ///   - report: gets what became of each home.
  /// - Throws: what goes wrong with the only home, or with all.
  package func run(
    _ sites: [Site], observe: (Site) -> UploadPass.Observer,
    report: (Site, Outcome<UploadPassReport>) throws -> Void
  ) async throws {
    var open = openElsewhere
    try await visit(sites) { site, context -> UploadPassReport? in
      guard let lock = try await HomeLock.acquire(site.home, within: patience, pausing: sleep)
      else { return nil }
      var policy = site.policy
      policy.openElsewhere = open
      return try await UploadPass(context, policy).run(holding: lock, observe(site))
    } leave: { site in
      open.add(site.home)
    } report: { site, outcome in
      if case .failed = outcome { open.addUnknown(site.home) }
      try report(site, outcome)
      if case .done(let report) = outcome { return !report.isStoreDown }
      return true
    }
  }

  /// Shows what the passes would do, without the homes' locks.
  ///
  /// - Throws: as ``run(_:observe:report:)`` does.
  package func preview(
    _ sites: [Site], report: (Site, Outcome<UploadPass.Preview>) throws -> Void
  ) async throws {
    try await visit(sites) { site, context in
      try UploadPass(context, site.policy).preview()
    } leave: { _ in
    } report: { site, outcome in
      try report(site, outcome)
      return true
    }
  }

  /// - Parameters:
  ///   - work: done in each home, with its owner's rights; nil where the home is in use.
  ///   - leave: done after that, or in its place where the home is in use, with the same rights.
  ///   - report: returns whether to go on with the next home.
  private func visit<Result>(
    _ sites: [Site], _ work: (Site, SyncContext) async throws -> Result?,
    leave: (Site) -> Void, report: (Site, Outcome<Result>) throws -> Bool
  ) async throws {
    for site in sites {
      let outcome: Outcome<Result>
      do {
        outcome = try await site.home.withOwnersRights {
          let context = try site.context()
          defer { leave(site) }
          return try await work(site, context).map { .done($0) } ?? .busy
        }
      } catch {
        let isSpent = (error as? StoreError)?.code == .exhausted
        guard isSpent || (sites.count > 1 && !isFatal(error)) else { throw error }
        _ = try report(site, .failed(error))
        if isSpent { return }
        continue
      }
      guard try report(site, outcome) else { return }
    }
  }
}
