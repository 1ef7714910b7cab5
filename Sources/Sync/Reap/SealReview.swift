import Logging
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Checks, once a day, that the store still has what was proven to be in it.
///
/// An older copy of the store lacks the newest seals of its time. While all is well it suffices to
/// ask for the newest seal of the last review, and to list the folders of those put since. Nothing is
/// sent again unasked: a deletion by somebody else looks the same.
package struct SealReview: Sendable {
  let context: SyncContext

  /// Makes a review.
  package init(_ context: SyncContext) { self.context = context }

  /// Time between reviews.
  private static let interval = Duration.days(1)
  /// Time until the next review if the store failed.
  private static let pause = Duration.hours(1)

  /// A seal that the store should have.
  fileprivate struct Proof: Sendable {
    let session: SessionID
    let folder: SessionFolder
    let revision: String
    /// The segments that it names; nil if only the seal itself says.
    let objects: [String]?
    /// Those of earlier generations among them, as far as they are known.
    var basis: [String] = []
    let sealedAt: Timestamp
    let isLocal: Bool
  }

  /// Reviews the home's sessions if due, or if a listing of this pass lacks the seal of one, or an
  /// object that it names.
  ///
  /// - Parameters:
  ///   - retention: how long sessions are kept: older ones may have expired.
  ///   - doubted: sessions that lack either in a listing of this pass.
  ///   - new: sessions sealed in this pass, which the next review is the first to check.
  ///   - lock: the home's lock.
  /// - Returns: the sessions without a remote copy, also if no review was due.
  /// - Throws: ``Platform/SystemError``; ``ObjectStore/StoreError`` if cancelled.
  package func runIfDue(
    _ retention: Retention, doubting doubted: Set<SessionID>, besides new: Set<SessionID> = [],
    holding lock: HomeLock
  ) async throws -> VanishedCopies {
    lock.expect(context.home)
    let now = context.now()
    var record = VanishedCopies.Record.load(context.home, store: context.store.location)
    let isRecent = record.next.map { now < $0 && $0 - now <= Self.interval } ?? false
    if !isRecent || !doubted.isSubset(of: record.doubted) {
      record.doubted = doubted
      do {
        record.found = try await find(retention, besides: record, new, at: now)
        // The remote reaper doubts them again in a later pass than the local one.
        record.doubted.formUnion(record.found.map(\.session))
        (record.at, record.next) = (now, now + Self.interval)
      } catch let error as StoreError where error.code != .cancelled {
        context.logger.warning("seals were not reviewed: \(error)")
        record.next = now + Self.pause
      }
      record.save(context.home)
    }
    return VanishedCopies(record, of: context)
  }

  private func find(
    _ retention: Retention, besides known: VanishedCopies.Record, _ new: Set<SessionID>,
    at now: Timestamp
  ) async throws -> [VanishedCopies.Record.Found] {
    let local = try sealed(
      retention, besides: new.subtracting(known.doubted), at: now, doubting: known.doubted)
    // The ledger may be long: while nothing is in doubt, local seals suffice.
    let isQuiet = !local.isEmpty && known.doubted.isEmpty && known.found.isEmpty
    var gone = try isQuiet ? [] : deleted(retention, at: now)
    var listings: [SessionFolder: FolderListing] = [:]
    // A listing shows sessions of other homes, too.
    let isDoubted = (local + gone).contains { known.doubted.contains($0.session) }
    if !isDoubted, known.found.isEmpty {
      let proofs = local.isEmpty ? gone : local
      let checked = known.at.map { $0 - SealClaim.pause } ?? Timestamp(milliseconds: 0)
      let witness = proofs.filter { $0.sealedAt <= checked }
        .max { $0.sealedAt < $1.sealedAt }
      var isWhole = true
      if let witness { isWhole = try await isThere(witness.revision, witness) }
      if isWhole {
        isWhole = try await missing(
          proofs.filter { $0.sealedAt > checked }, known, &listings, retention
        ).isEmpty
      }
      if isWhole { return [] }
    }
    if isQuiet { gone = try deleted(retention, at: now) }
    let found = try await missing(local + gone, known, &listings, retention)
    for one in found {
      context.logger.error(
        "\(one.session): \(one.revision), or what it names, is not in the store any more")
    }
    return found
  }

  /// The sessions whose seal, or an object that it names, the store lacks; lists each folder once.
  private func missing(
    _ proofs: [Proof], _ known: VanishedCopies.Record,
    _ listings: inout [SessionFolder: FolderListing], _ retention: Retention
  ) async throws -> [VanishedCopies.Record.Found] {
    let store = context.store
    let folders = Set(proofs.map(\.folder)).subtracting(listings.keys)
    let listed = try await folders.sorted { $0.day < $1.day }.concurrentMap {
      ($0, try await FolderListing($0, in: store))
    }
    for (folder, listing) in listed { listings[folder] = listing }
    let missed = Set(known.found.map(\.revision))
    let suspects = proofs.compactMap { proof -> (Proof, listed: RemoteSession)? in
      let listed =
        listings[proof.folder]?[proof.session, in: proof.folder]
        ?? RemoteSession(folder: proof.folder, session: proof.session)
      return proof.isWhole(in: listed) ? nil : (proof, listed)
    }
    // A listing may be old: ask by name.
    let asked = try await suspects.concurrentMap { proof, listed in
      guard !missed.contains(proof.revision) else { return (proof, false) }
      return (proof, try await isWhole(proof, besides: listed))
    }
    return asked.filter { !$0.1 }.map { proof, _ in
      VanishedCopies.Record.Found(
        session: proof.session, revision: proof.revision,
        mark: listings[proof.folder]?[proof.session, in: proof.folder].mark ?? .zero,
        isLocal: proof.isLocal, until: proof.sealedAt + retention.remote)
    }
  }

  /// Whether everything that a listing lacks of a session is there.
  private func isWhole(_ proof: Proof, besides listed: RemoteSession) async throws -> Bool {
    let names = listed.fileNames
    if !names.contains(proof.revision), try await !isThere(proof.revision, proof) { return false }
    var objects = proof.objects ?? []
    if proof.objects == nil, names.contains(proof.revision),
      let seal = RevisionName(proof.revision)
    {
      do {
        let sidecar = try await RemoteReader(context.store, knowing: nil).read(
          seal, in: proof.folder)
        objects = (sidecar.objects ?? []) + (sidecar.basis ?? [])
      } catch is ReplicaError {
        return false
      }
    }
    for name in Set(objects).subtracting(names).sorted()
    where try await !isThere(name, proof) { return false }
    return true
  }

  /// Whether an object of a session is there; one whose size contradicts its name is cut.
  private func isThere(_ name: String, _ proof: Proof) async throws -> Bool {
    // The ledger does not tell under which id a session was sent.
    let former = proof.isLocal ? [] : context.device.ids.dropFirst()
    for folder in [proof.folder] + former.map({ SessionFolder(device: $0, session: proof.session) })
    {
      do {
        let found = try await context.store.head(folder.key + name)
        return SegmentName(name).map { $0.stored == found.size } ?? true
      } catch let error as StoreError where error.isNotFound {
        continue
      }
    }
    return false
  }

  // MARK: Seals that the store should have

  /// The seals of sessions on this machine, and in its trash.
  ///
  /// - Parameter new: sessions whose sidecar need not be read to know that they are too new.
  private func sealed(
    _ retention: Retention, besides new: Set<SessionID>, at now: Timestamp,
    doubting doubted: Set<SessionID>
  ) throws -> [Proof] {
    let home = context.home
    var paths = try home.days().flatMap { day in
      try home.sessions(day: day).filter { !new.contains($0) }.map { home.files(for: $0).sidecar }
    }
    paths += try Trash(home).sidecarPaths().values
    return paths.compactMap { path in
      guard let sidecar = try? Sidecar.load(path), let seal = sidecar.seal,
        seal.store == context.store.location, sidecar.remoteReapedAt == nil,
        // A listing may be older than a new seal. Retention, a lifecycle rule for instance, deletes
        // what is older.
        now - seal.sealedAt >= SealClaim.pause || doubted.contains(sidecar.sessionId),
        now - seal.sealedAt < retention.remote
      else { return nil }
      return Proof(
        session: sidecar.sessionId,
        folder: SessionFolder(device: sidecar.deviceId, session: sidecar.sessionId),
        revision: seal.revision, objects: (sidecar.objects ?? []) + (sidecar.basis ?? []),
        sealedAt: seal.sealedAt, isLocal: true)
    }
  }

  /// The seals that local copies were deleted upon, according to the ledger.
  private func deleted(_ retention: Retention, at now: Timestamp) throws -> [Proof] {
    let (home, device) = (context.home, context.device.deviceId)
    // A home that lost its device record does not know the id that it had before.
    let isIdKnown = !context.device.formerIds.isEmpty
    let claim = "\(context.store.location) lists "
    let trashed = Set(try Trash(home).sessions(at: context.lived.time.mark).keys)
    var proofs: [SessionID: Proof] = [:]
    try DeletionLedger(home).forEachEntry(where: { !trashed.contains($0) }) { entry in
      switch (entry.copy, entry.ground) {
      case (.local, .proven):
        guard entry.finding.hasPrefix(claim), !LocalSession(home, entry.session).hasSidecar,
          isIdKnown || entry.at >= context.device.created,
          (.zero..<max(.zero, retention.remote - retention.local)).contains(now - entry.at),
          let name = entry.finding.dropFirst(claim.count).split(separator: " ").first
            .flatMap({ RevisionName(String($0)) })
        else { return }
        proofs[entry.session] = Proof(
          session: entry.session, folder: SessionFolder(device: device, session: entry.session),
          revision: name.fileName, objects: nil, basis: entry.basis ?? [], sealedAt: entry.at,
          isLocal: false)
      case (.remote, .expired), (_, .asked): proofs[entry.session] = nil
      default: break
      }
    }
    return Array(proofs.values)
  }
}

extension SealReview.Proof {
  /// Whether a listing shows the seal and the segments that it names or, without their names, its
  /// whole stream and what is known of the rest.
  fileprivate func isWhole(in listed: RemoteSession) -> Bool {
    let names = listed.fileNames
    guard names.contains(revision), names.isSuperset(of: basis) else { return false }
    if let objects { return names.isSuperset(of: objects) }
    return RevisionName(revision).map { listed.mark(of: $0.generation) >= $0.length } ?? false
  }
}
