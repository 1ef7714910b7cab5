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
    /// What is configured for it.
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

  /// What became of one home.
  package enum Outcome {
    /// A pass was made.
    case done(UploadPassReport)
    /// Another upload of the home is running, and does this one's work.
    case busy
    /// What went wrong with this home; the others are not concerned.
    case failed(any Error)
  }

  /// How long to wait for another upload of a home to end.
  package var patience = Duration.zero
  /// Whether an error concerns all homes.
  package var isFatal: (any Error) -> Bool = { _ in true }

  /// Waits for nothing, and stops at the first error.
  package init() {}

  /// Makes the passes.
  ///
  /// What is wrong with one home does not stop the others; a store that fails does.
  ///
  /// - Parameters:
  ///   - sites: the homes.
  ///   - pass: makes the pass of a home whose lock it is given.
  ///   - report: gets what became of each home.
  /// - Throws: what goes wrong with the only home, or with all.
  package func run(
    _ sites: [Site], _ pass: (Site, SyncContext, HomeLock) async throws -> UploadPassReport,
    report: (Site, Outcome) throws -> Void
  ) async throws {
    for site in sites {
      let outcome: Outcome
      do {
        outcome = try await site.home.withOwnersRights {
          let context = try site.context()
          guard let lock = try await lock(site.home) else { return .busy }
          return .done(try await pass(site, context, lock))
        }
      } catch {
        let isSpent = (error as? StoreError)?.code == .exhausted
        guard isSpent || (sites.count > 1 && !isFatal(error)) else { throw error }
        try report(site, .failed(error))
        if isSpent { return }
        continue
      }
      try report(site, outcome)
      if case .done(let report) = outcome, report.isStoreDown { return }
    }
  }

  /// Milliseconds between two looks at a lock that another process has.
  private static let lockInterval = 50

  private func lock(_ home: Home) async throws -> HomeLock? {
    let start = ContinuousClock.now
    while true {
      if let lock = try HomeLock.acquire(home) { return lock }
      guard start.duration(to: .now) < patience else { return nil }
      try await Task.sleep(for: .milliseconds(Self.lockInterval))
    }
  }
}
