import Platform
package import SessionLog
package import Sync

/// A pass over one home, with its owner's rights and once its lock is free.
package struct HomePass {
  /// The home.
  package let home: Home
  /// What the pass does.
  package private(set) var policy: UploadPolicy
  let context: () throws -> SyncContext
  /// How long to wait for another upload of the home to end.
  package var patience = Duration.zero
  /// Waits between two attempts to acquire the lock.
  package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  /// Describes a pass that waits for nothing.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - policy: what the pass does.
  ///   - context: opens the home's cache and its store; called with the owner's rights.
  package init(_ home: Home, _ policy: UploadPolicy, context: @escaping () throws -> SyncContext) {
    (self.home, self.policy, self.context) = (home, policy, context)
  }

  /// Makes it the next pass of an upload, which sends what the one before had no time for.
  ///
  /// What failed a moment ago has had its turn. Another upload that has begun in between may not send
  /// everything: this pass waits for it, for twice the time of a pass.
  package mutating func continueUpload() {
    policy.retryScope = .due
    patience = max(patience, UploadPolicy.passTime * 2)
  }

  /// Runs the pass.
  ///
  /// - Parameter observe: gets what happens, from any thread.
  /// - Returns: what was done; nil if another upload of the home is running, which does this work.
  /// - Throws: as ``UploadPass/run(holding:_:)`` does; errors of `context`.
  package func run(
    _ observe: @escaping UploadPass.Observer = { _ in }
  ) async throws -> UploadPassReport? {
    try await home.withOwnersRights {
      let context = try context()
      guard let lock = try await HomeLock.acquire(home, within: patience, pausing: sleep) else {
        return nil
      }
      return try await UploadPass(context, policy).run(holding: lock, observe)
    }
  }

  /// Plans the pass; needs no lock.
  ///
  /// - Throws: errors of the home, of its cache and of `context`.
  package func preview() async throws -> UploadPass.Preview {
    try await home.withOwnersRights { try UploadPass(try context(), policy).preview() }
  }
}
