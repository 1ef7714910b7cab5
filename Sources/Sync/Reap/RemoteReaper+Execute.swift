import Logging
package import ObjectStore
import Platform
import Replica
package import SessionLog

/// Carries out plans of remote deletions.
extension RemoteReaper {
  /// Carries out the remote part of a plan, sidecars before segments, so that an interrupted
  /// deletion can be recognized as such.
  ///
  /// Lists each folder again first, and while it is deleting there, so that no deletion begins
  /// later than ``listingLife`` after a listing, and leaves sessions that have a new object or hold:
  /// planning and deleting take minutes in a large store, and others write there meanwhile.
  ///
  /// - Parameter spared: called for each session that is left.
  /// - Returns: one outcome per object.
  /// - Throws: ``ObjectStore/StoreError`` when a whole request fails; ``Platform/SystemError``
  ///   when the ledger cannot be written.
  package func execute(
    _ plan: ReapPlan, holding lock: HomeLock, spared: (ReapPlan.Kept) -> Void = { _ in }
  ) async throws -> [DeleteOutcome] {
    let deleter = Deleter(context)
    var outcomes: [DeleteOutcome] = []
    let superseded = Dictionary(grouping: plan.superseded, by: \.seen?.folder)
    let expired = Dictionary(grouping: plan.remote, by: \.seen?.folder)
    var done: Set<SessionFolder> = []
    for folder in (plan.superseded + plan.remote).compactMap(\.seen?.folder)
    where done.insert(folder).inserted {
      var listing = try await FolderListing(folder, in: context.store)
      var listedAt = context.machine.uptime()
      func change(of removal: ReapPlan.Removal) -> String? {
        guard let seen = removal.seen,
          let change = Self.change(of: listing[removal.session, in: folder], since: seen)
        else { return nil }
        context.logger.notice("\(removal.session): kept: \(change)")
        spared(.init(session: removal.session, reason: change))
        return change
      }
      func changeSince(_ removal: ReapPlan.Removal) async throws -> String? {
        guard context.machine.uptime() - listedAt > Self.listingLife else {
          return nil
        }
        listing = try await FolderListing(folder, in: context.store)
        listedAt = context.machine.uptime()
        return change(of: removal)
      }
      let former = (superseded[folder] ?? []).filter { change(of: $0) == nil }
      outcomes += try await deleter.deleteObjects(former, holding: lock, unless: changeSince)
      let old = (expired[folder] ?? []).filter { change(of: $0) == nil }
      outcomes += try await deleter.deleteObjects(old, holding: lock, unless: changeSince) {
        removal, outcomes in
        guard outcomes.allSatisfy({ $0.error == nil }) else { return }
        try LocalSession(context.home, removal.session)
          .recordRemoteRemoval(of: removal.keys, in: context.store.location, at: context.now())
      }
    }
    return outcomes
  }

  /// How long a listing shows what may be deleted.
  package static let listingLife = Duration.seconds(5)

  /// Describes an object or a hold that was added after an earlier listing; nil if there is none.
  private static func change(of remote: RemoteSession, since earlier: RemoteSession) -> String? {
    let known = Set(earlier.keys)
    if let hold = remote.holds.first(where: {
      !known.contains(remote.folder.key + $0.name.fileName)
    }) {
      return "put on hold until \(hold.day) meanwhile"
    }
    if let new = remote.keys.first(where: { !known.contains($0) }) {
      return "\(new) was put meanwhile"
    }
    if let newest = remote.newest, let before = earlier.newest, newest > before {
      return "an object of it was put again meanwhile"
    }
    return nil
  }
}
