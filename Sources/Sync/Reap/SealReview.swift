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
  private struct Proof: Sendable {
    let session: SessionID
    let folder: SessionFolder
    let revision: String
    /// The segments that it names, as far as this home's own record tells.
    let objects: [String]
    let sealedAt: Timestamp
    let isLocal: Bool
  }

  /// Reviews the home's sessions if due, or if a listing of this pass lacks the seal of one, or an
  /// object that it names.
  ///
  /// - Parameters:
  ///   - retention: how long sessions are kept: older ones may have expired.
  ///   - doubted: sessions that lack either in a listing of this pass.
  ///   - lock: the home's lock.
  /// - Returns: the sessions without a remote copy, also if no review was due.
  /// - Throws: ``Platform/SystemError``; ``ObjectStore/StoreError`` if cancelled.
  package func runIfDue(
    _ retention: Retention, doubting doubted: Set<SessionID>, holding lock: HomeLock
  ) async throws -> VanishedCopies {
    lock.expect(context.home)
    let now = context.now()
    var record = VanishedCopies.Record.load(context.home, store: context.store.location)
    let isRecent = record.next.map { now < $0 && $0 - now <= Self.interval } ?? false
    if !isRecent || !doubted.isSubset(of: record.doubted) {
      record.doubted = doubted
      do {
        record.found = try await find(retention, besides: record, at: now)
        (record.at, record.next) = (now, now + Self.interval)
      } catch let error as StoreError where error.code != .cancelled {
        context.logger.warning("seals were not reviewed: \(error)")
        record.next = now + Self.pause
      }
      record.save(context.home)
    }
    return VanishedCopies(record, context.home, at: now)
  }

  private func find(
    _ retention: Retention, besides known: VanishedCopies.Record, at now: Timestamp
  ) async throws -> [VanishedCopies.Record.Found] {
    let here = try sealed(retention, at: now, doubting: known.doubted)
    var listings: [SessionFolder: FolderListing] = [:]
    if known.doubted.isEmpty, known.found.isEmpty {
      let proofs = try here.isEmpty ? deleted(retention, at: now) : here
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
    let found = try await missing(
      here + deleted(retention, at: now), known, &listings, retention)
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
    let suspects = proofs.compactMap { proof -> (Proof, names: [String])? in
      let remote = listings[proof.folder]?[proof.session, in: proof.folder]
      let whole =
        (remote?.revisions.map(\.fileName) ?? []) + (remote?.segments.map(\.fileName) ?? [])
      let names = Set([proof.revision] + proof.objects).subtracting(whole)
      return names.isEmpty ? nil : (proof, names.sorted())
    }
    // A listing may be old: ask by name.
    let asked = try await suspects.concurrentMap { proof, names in
      if missed.contains(proof.revision) { return (proof, false) }
      for name in names where try await !isThere(name, proof) { return (proof, false) }
      return (proof, true)
    }
    return asked.filter { !$0.1 }.map { proof, _ in
      VanishedCopies.Record.Found(
        session: proof.session, revision: proof.revision,
        mark: listings[proof.folder]?[proof.session, in: proof.folder].mark ?? .zero,
        isLocal: proof.isLocal, until: proof.sealedAt + retention.remote)
    }
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
  private func sealed(
    _ retention: Retention, at now: Timestamp, doubting doubted: Set<SessionID>
  ) throws -> [Proof] {
    let home = context.home
    let trash = Trash(home)
    var paths = try home.days().flatMap { day in
      try home.sessions(day: day).map { home.files(for: $0).sidecar }
    }
    paths += try trash.sessions(at: context.lived.time.mark).keys
      .compactMap { try trash.sidecarPath(of: $0) }
    return paths.compactMap { path in
      guard let sidecar = try? Sidecar.load(path), let seal = sidecar.seal,
        seal.store == context.store.location, sidecar.remoteReapedAt == nil,
        sidecar.deviceId == context.device.deviceId,
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
    for entry in try DeletionLedger(home).entries(where: { !trashed.contains($0) }) {
      switch (entry.copy, entry.ground) {
      case (.local, .proven):
        guard entry.finding.hasPrefix(claim), !LocalSession(home, entry.session).hasSidecar,
          isIdKnown || entry.at >= context.device.created,
          (.zero..<max(.zero, retention.remote - retention.local)).contains(now - entry.at),
          let name = entry.finding.dropFirst(claim.count).split(separator: " ").first
            .flatMap({ RevisionName(String($0)) })
        else { continue }
        proofs[entry.session] = Proof(
          session: entry.session, folder: SessionFolder(device: device, session: entry.session),
          revision: name.fileName, objects: [], sealedAt: entry.at, isLocal: false)
      case (.remote, .expired), (_, .asked): proofs[entry.session] = nil
      default: break
      }
    }
    return Array(proofs.values)
  }
}
