import ObjectStore
import Platform
package import Replica
package import SessionLog

/// A session that must not be deleted, because `keep` holds it.
package struct HeldSession: Error, Sendable, CustomStringConvertible {
  let session: SessionID

  /// One line for a person.
  package var description: String {
    "\(session) is kept; 'tidemark keep --release \(session)' ends that"
  }
}

/// Deletes single sessions at a person's request.
package struct Deletion {
  let home: Home
  private let lived: LivedClock
  private let context: SyncContext?
  private let deleter: Deleter
  private let evidence: Evidence

  /// Prepares a deletion.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - context: the store; nil to delete local files only.
  ///   - lived: the home's lived time.
  ///   - command: the requesting command, for the ledger.
  package init(home: Home, context: SyncContext?, lived: LivedClock, command: String) {
    self.home = home
    self.context = context
    self.lived = lived
    deleter = context.map(Deleter.init) ?? Deleter(home: home, lived: lived)
    evidence = .asked(by: command)
  }

  /// Refuses a session that is held, in this home or in the store.
  ///
  /// - Throws: ``HeldSession``.
  package func expectNoHold(on session: SessionID, _ remote: RemoteSession?) throws {
    let now = context?.serverNow ?? lived.now.assumingSynchronizedClocks
    guard Holds(home).isHeld(session, at: lived.time) || remote?.isHeld(at: now) == true else {
      return
    }
    throw HeldSession(session: session)
  }

  /// Deletes a session permanently.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - isLocal: whether to delete its files on this machine.
  ///   - remote: the remote copy to delete as well, as a listing shows it; nil to keep it.
  ///   - isRemoteGone: whether a listing was to show it, and has nothing of it.
  ///   - lock: the home's lock.
  /// - Returns: one outcome per object, and one for the local files.
  /// - Throws: ``HeldSession``; ``ObjectStore/StoreError`` when the whole request fails;
  ///   ``Platform/SystemError``; errors of the manifest.
  package func delete(
    _ session: SessionID, local isLocal: Bool, remote: RemoteSession?, isRemoteGone: Bool = false,
    holding lock: HomeLock
  ) async throws -> [DeletionOutcome] {
    lock.expect(home)
    try expectNoHold(on: session, remote)
    var outcomes: [DeletionOutcome] = []
    let local = LocalSession(home, session)
    if let context, remote != nil || isRemoteGone,
      let unlisted = try await unlisted(remote, of: local, context)
    {
      return [DeletionOutcome(session, "\(session)", unlisted)]
    }
    if let context, let remote {
      // Another device's session with the same id says nothing about this home's, nor does what was
      // sent under a former id, if it goes on under the present one.
      let isPresent = try isPresentCopy(remote, of: local, context)
      // Withdraw before deleting objects: a running pass would send them again, and so would the
      // next one if the local copy stays.
      if try isPresent && local.isLocal && !local.isSealed { try local.withdraw(at: context.now()) }
      let removal = ReapPlan.Removal(remote, evidence: evidence, reason: "asked for")
      outcomes += try await deleter.deleteObjects([removal], holding: lock).map {
        DeletionOutcome(session, $0.key, $0.error)
      }
      if isPresent { try context.manifest.forget(session) }
      // Objects that are still there were not removed on purpose.
      if outcomes.allSatisfy({ $0.error == nil }) {
        try local.recordRemoteRemoval(
          of: remote.keys, in: context.store.location, at: context.now(), isAsked: true)
      }
    }
    if isLocal {
      var failure: (any Error)?
      do {
        try deleteCopies(of: local, holding: lock)
        try context?.manifest.forget(session)
        try Quarantine(home).release(session)
        if isRemoteGone, let context {
          var damaged = DamagedCopies(of: context)
          try damaged.forget(session)
        }
      } catch {
        failure = error
      }
      outcomes.append(DeletionOutcome(session, "\(session) on this machine", failure))
    }
    return outcomes
  }

  /// Maximum number of objects to ask for.
  private static let mostAsked = 100

  /// Why a remote copy cannot be deleted now: the store has objects of it that a listing lacks.
  ///
  /// The listing may be old. Without one, it is not known whose they are, nor whether they are on hold.
  ///
  /// - Returns: nil if the listing has all that this home has put, and the store has.
  private func unlisted(
    _ listed: RemoteSession?, of local: LocalSession, _ context: SyncContext
  ) async throws -> ReplicaError? {
    guard let path = try local.sidecarPath(), let sidecar = try? Sidecar.load(path),
      listed?.folder.device ?? context.device.deviceId == sidecar.deviceId
    else { return nil }
    let names =
      sidecar.seal != nil
      ? try sidecar.sealedNames(in: context.store.location)
        + context.manifest.putNames(of: local.session)
      : try context.manifest.entry(local.session)?.expected(besides: nil) ?? []
    let folder = SessionFolder(device: sidecar.deviceId, session: local.session)
    let keys = Set(names.map { folder.key + $0 }).subtracting(listed?.keys ?? [])
    for key in keys.sorted().prefix(Self.mostAsked) {
      do {
        _ = try await context.store.head(key)
      } catch let error as StoreError where error.isNotFound || error.code == .authentication {
        // Some servers refuse to say that there is nothing.
        continue
      }
      return ReplicaError(
        .missingBytes,
        "nothing was deleted: the store's listing does not show all of its objects yet, such as \(key); "
          + "run this again")
    }
    return nil
  }

  /// Whether this home continues a remote copy: the one under the session's present device id or, as
  /// long as nothing was sent under that, one under a former id.
  private func isPresentCopy(
    _ remote: RemoteSession, of local: LocalSession, _ context: SyncContext
  ) throws -> Bool {
    guard try context.isOwn(remote.deviceSession) else { return false }
    let device = try local.sidecar(device: context.device).sidecar.deviceId
    return try remote.folder.device == device || context.manifest.entry(local.session) == nil
  }

  /// Deletes the copy in the home, and the one in its trash.
  private func deleteCopies(of local: LocalSession, holding lock: HomeLock) throws {
    let session = local.session
    if try local.isLocal {
      let removal = ReapPlan.Removal(
        session, bytes: try local.logBytes(), evidence: evidence, reason: "asked for")
      let outcomes = deleter.deleteLocal([removal], trashing: { _ in false }, holding: lock)
      if let error = outcomes.first?.error { throw error }
    }
    try deleter.deleteTrashed(session, on: evidence, holding: lock)
  }
}
