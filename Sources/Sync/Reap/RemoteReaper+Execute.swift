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
          let change = listing[removal.session, in: folder].change(since: seen)
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
}

extension RemoteSession {
  /// Describes an object or a hold that was added after an earlier listing; nil if there is none.
  fileprivate func change(since earlier: RemoteSession) -> String? {
    let known = Set(earlier.keys)
    if let hold = holds.first(where: { !known.contains(folder.key + $0.name.fileName) }) {
      return "put on hold until \(hold.day) meanwhile"
    }
    if let new = keys.first(where: { !known.contains($0) }) {
      return "\(new) was put meanwhile"
    }
    if let newest, let before = earlier.newest, newest > before {
      return "an object of it was put again meanwhile"
    }
    return nil
  }
}

extension LocalSession {
  /// Records that the remote copy was deleted on purpose, so that age alone decides here.
  ///
  /// Applies only if the deletion included the very seal that this home put and, unless a person
  /// asked for it, all that it names: without that the copy was incomplete, and objects of other devices under this session's id are theirs.
  func recordRemoteRemoval(
    of keys: [String], in store: String, at now: Timestamp, isAsked: Bool = false
  ) throws {
    // For a session in the trash, this takes effect once it is restored.
    guard let path = try sidecarPath(), var sidecar = try? Sidecar.load(path) else { return }
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    if let seal = sidecar.seal {
      let objects = isAsked ? [] : (sidecar.objects ?? []) + (sidecar.basis ?? [])
      let names = [seal.revision] + objects
      guard seal.store == store, Set(names.map { folder.key + $0 }).isSubset(of: keys) else {
        return
      }
    } else {
      guard keys.allSatisfy({ $0.hasPrefix(folder.key) }) else { return }
    }
    sidecar.remoteReapedAt = now
    try sidecar.save(path)
  }
}
