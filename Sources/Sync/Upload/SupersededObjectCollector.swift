import ObjectStore
import Platform
import Replica
import SessionLog

/// Deletes superseded objects of sealed sessions: older sidecar revisions, and segments whose bytes
/// are in one that the seal names.
///
/// Runs in a pass after the seal, and only if a listing shows the seal and every object it names.
struct SupersededObjectCollector {
  let context: SyncContext
  let lock: HomeLock
  let report: @Sendable (UploadEvent) -> Void

  /// Time until a failed deletion is tried again.
  private static let patience = Duration.hours(6)

  /// Sweeps these sessions; reports what cannot be deleted.
  ///
  /// - Throws: errors of the manifest; `CancellationError`.
  func sweep(_ sessions: [SessionID]) async throws {
    let device = context.device.deviceId
    let folders = Dictionary(grouping: sessions) { SessionFolder(device: device, session: $0) }
    for (folder, sessions) in folders.sorted(by: { $0.key.day < $1.key.day }) {
      do {
        let only = sessions.count == 1 ? sessions.first : nil
        let listing = try await FolderListing(folder, session: only, in: context.store)
        for session in sessions {
          do {
            try await sweep(listing[session, in: folder])
          } catch let error as ReplicaError {
            try postpone(session, error)
          }
        }
      } catch let error as StoreError where !error.endsPass {
        for session in sessions { try postpone(session, error) }
      }
    }
  }

  private func sweep(_ remote: RemoteSession) async throws {
    if let ownership = context.ownership,
      try await !ownership.finding(remote, by: context.reader).isOwn
    {
      return try context.manifest.forget(remote.session)
    }
    let put = try context.manifest.putNames(of: remote.session)
    if isOld(remote) {
      return try postpone(
        remote.session,
        ReplicaError(.missingBytes, "the store's listing does not show all that its seal names"))
    }
    guard let seal = try await seal(of: remote, put) else {
      return try context.manifest.forget(remote.session)
    }
    let (keys, evidence, surplus) = Evidence.replaced(in: remote, by: seal, put: put)
    if let evidence {
      let removal = ReapPlan.Removal(
        remote, keys: keys, evidence: evidence, reason: "its seal has made them obsolete")
      let outcomes = try await Deleter(context).deleteObjects([removal], holding: lock)
      if let error = outcomes.lazy.compactMap(\.error).first {
        return try postpone(remote.session, error)
      }
    }
    try context.manifest.forget(remote.session)
    let unknown = unheld(surplus, by: seal, of: remote.session)
    if let first = unknown.first {
      report(
        .sealedAsSent(
          session: remote.session,
          reason:
            "its seal does not name \(Plural.text(unknown.count, "object")) in the store, whose "
            + "bytes no command shows: \(first.fileName)"))
    }
  }

  /// How long a listing that lacks what a seal names may only be old.
  private static let lag = Duration.days(2)

  /// Whether a listing may be older than the seal that this home put: it lacks some of what that names.
  private func isOld(_ remote: RemoteSession) -> Bool {
    let files = LocalSession(context.home, remote.session).files
    guard let own = try? Sidecar.load(files.sidecar), let seal = own.seal,
      context.now() - seal.sealedAt < Self.lag
    else { return false }
    let names = own.sealedNames(in: context.store.location).map { remote.folder.key + $0 }
    return !Set(names).isSubset(of: remote.keys)
  }

  /// The segments whose bytes are not the sealed ones, as far as the local log says; of the others it is
  /// only not known who put them.
  private func unheld(
    _ segments: [SegmentName], by seal: Sidecar, of session: SessionID
  ) -> [SegmentName] {
    let local = LocalSession(context.home, session)
    guard !segments.isEmpty, let sidecar = try? Sidecar.load(local.files.sidecar),
      let log = try? local.openSentLog(sidecar, context)
    else { return segments }
    let named = (seal.objects ?? []).compactMap(SegmentName.init)
    return segments.filter { segment in
      !named.contains { $0.holds(segment) } || (try? segment.matches(log)) != true
    }
  }

  /// The seal that this home put: its own copy or, if that is gone with the session, the store's,
  /// provided there is no other seal that anyone else may have put.
  private func seal(of remote: RemoteSession, _ put: Set<String>) async throws -> Sidecar? {
    let local = LocalSession(context.home, remote.session)
    if let seal = remote.seal, let own = try? Sidecar.load(local.files.sidecar),
      own.isSealed(by: seal, in: context.store.location)
    {
      return own
    }
    let seals = remote.revisions.filter { $0.status != .active }
    guard !local.hasSidecar, let seal = remote.seal,
      seals.count == 1 || seals.allSatisfy({ put.contains($0.fileName) })
    else { return nil }
    // Fields that only a home's own copy can vouch for do not count here.
    return try await context.reader.read(seal, in: remote.folder).remoteForm
  }

  private func postpone(_ session: SessionID, _ error: any Error) throws {
    let due = context.now() + Self.patience
    try context.manifest.forgetButSuperseded(of: session, due: due)
    report(.supersededLeft(session: session, reason: "\(error)"))
  }
}
