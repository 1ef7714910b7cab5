import Logging
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Checks, once a boot and once a day, state that uploads depend on and that may change without
/// them: the markers that lead to sessions, and the cached state of the store.
///
/// A power failure may lose a marker whose log is safe, and anyone with permission may delete
/// objects.
package struct OpenSessionReview {
  private let context: SyncContext

  /// Makes a review.
  package init(_ context: SyncContext) { self.context = context }

  /// Time between reviews.
  private static let interval = Duration.days(1)

  /// Reviews the home's sessions if due; after a failure, the next pass tries again.
  ///
  /// - Returns: the number of local sessions that are sealed in another store, at the first review
  ///   since the store was configured.
  @discardableResult
  package func runIfDue(holding lock: HomeLock) -> Int {
    lock.expect(context.home)
    restoreRotationNotes()
    do {
      return try reviewIfDue(holding: lock)
    } catch {
      context.logger.warning("open sessions were not reviewed: \(error)")
      return 0
    }
  }

  /// Makes lost notes of rotations again, in each pass: until then the log of a pruned session seems to
  /// begin later, and what it has must not be sent.
  private func restoreRotationNotes() {
    let home = context.home
    do {
      let unnoted = try home.openSessions().filter { !File.exists(home.files(for: $0).rotated) }
      for day in Set(unnoted.map(\.day)) { try restoreRotationNotes(of: day) }
    } catch {
      context.logger.warning("lost notes of rotations were not made again: \(error)")
    }
  }

  private func restoreRotationNotes(of day: String) throws {
    for session in try context.home.restoreRotationNotes(day: day) {
      context.logger.warning(
        "\(session): \(context.home.files(for: session).rotated) was missing, and is made again")
    }
  }

  private func reviewIfDue(holding lock: HomeLock) throws -> Int {
    let now = context.now()
    let last = try context.manifest.lastReview()
    let isRecent = last.map { (.zero..<Self.interval).contains(now - $0.at) } == true
    guard !isRecent || last?.boot != context.machine.bootId else { return 0 }
    let elsewhere = try reviewSessions(isFirst: last == nil, holding: lock)
    context.home.sweepDays(at: now)
    // Cached state of open sessions is trusted again after a listing has confirmed it.
    try context.manifest.distrustSessions()
    try context.manifest.saveReview(boot: context.machine.bootId, at: now)
    return last == nil ? elsewhere : 0
  }

  /// - Parameter isFirst: whether the cache may be new, and not know what former passes left to do.
  /// - Returns: the number of sessions that are sealed in another store.
  private func reviewSessions(isFirst: Bool, holding lock: HomeLock) throws -> Int {
    var elsewhere = 0
    let home = context.home
    let open = Set(try home.openSessions())
    for day in try home.days() {
      try restoreRotationNotes(of: day)
      for session in try home.sessions(day: day) where !open.contains(session) {
        switch finding(LocalSession(home, session)) {
        case .isUndescribed:
          try withdrawIfDeleted(LocalSession(home, session))
          context.logger.notice("\(session): its sidecar is lost")
          try home.mark(session)
        case .mayBeUnsealed:
          context.logger.notice("\(session): its marker in \(home.openPath) was missing")
          try home.mark(session)
        case .hasGrown:
          context.logger.warning("\(session): its log has grown since it was sealed")
          if try !Verifier(context).continueSealed(session, holding: lock) {
            context.logger.warning("\(session): the consent does not allow sending the rest")
          }
        case .wasEdited(var sidecar):
          context.logger.warning("\(session): its log was changed after it was sealed")
          sidecar.seal?.logDiffers = true
          try sidecar.save(home.files(for: session).sidecar)
        case .isElsewhere: elsewhere += 1
        case .isRedacted:
          // A new cache does not list the unmasked objects that are still to be deleted.
          if isFirst { try context.manifest.recallSuperseded(of: session, due: context.now()) }
        case .isSealed: break
        }
      }
    }
    return elsewhere
  }

  /// The state of a session that has no marker.
  private enum Finding {
    case isSealed, isElsewhere, mayBeUnsealed, hasGrown
    /// It was sealed after a redaction, which makes its earlier generations obsolete.
    case isRedacted
    /// Its sidecar is lost, and said whether it is sealed.
    case isUndescribed
    /// It is longer, and does not begin with what was sealed: sending it again cannot mend anything.
    case wasEdited(Sidecar)
  }

  /// Compares a session's log with its sidecar; if the sidecar is lost, a listing decides.
  private func finding(_ local: LocalSession) -> Finding {
    do {
      let sidecar = try Sidecar.load(local.files.sidecar)
      guard let seal = sidecar.seal else { return .mayBeUnsealed }
      if sidecar.isSealedElsewhere(than: context.store.location) { return .isElsewhere }
      guard try hasGrown(local, sidecar, since: seal) else {
        return sidecar.erasesBefore ?? 1 > 1 ? .isRedacted : .isSealed
      }
      // Where that cannot be found out, the pass that is to send the rest says why.
      let change = try? Verifier(context).editedLog(of: local, sidecar)
      return change == nil ? .hasGrown : .wasEdited(sidecar)
    } catch is SidecarError {
      return (try? local.openLog(nil)).flatMap(\.self) != nil ? .isUndescribed : .isSealed
    } catch {
      return .isSealed
    }
  }

  /// Withdraws a session whose remote copy a person deleted once it was sealed: only its sidecar and
  /// the ledger say so.
  private func withdrawIfDeleted(_ local: LocalSession) throws {
    // One that was not sealed has a state, which counts.
    guard try local.loadUploadState() == nil else { return }
    let deletion = try DeletionLedger(context.home).entries { $0 == local.session }
      .last { $0.copy == .remote && $0.ground == .asked }
    // One that failed has another entry, which says so.
    if let deletion, deletion.failure == nil { try local.withdraw(at: deletion.at) }
  }

  /// Whether a recorder continued after the seal; it may only have seemed dead.
  private func hasGrown(
    _ local: LocalSession, _ sidecar: Sidecar, since seal: Sidecar.Seal
  ) throws -> Bool {
    guard seal.store == context.store.location, sidecar.source == nil,
      sidecar.remoteReapedAt == nil, !sidecar.withholdsLog, seal.logDiffers != true,
      let log = try local.openLog(nil)
    else { return false }
    let length = try log.status().length
    return length > seal.length && length.byteCount > sidecar.fileSizeBytes
  }
}
