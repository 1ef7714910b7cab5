import ObjectStore
import Platform
import Replica
import SessionLog

/// A way to prove that a local copy may be deleted.
enum LocalProof {
  /// Its age alone.
  case age(Evidence.Absence)
  /// Its seal, which a listing of this pass shows with every object it names.
  case seal(SealClaim, RemoteSession)
  /// Its seal, whose remote copy was removed, if the log holds nothing else than was sealed.
  case removed(SealClaim)
}

/// Finds the evidence for deleting local copies.
struct LocalProver {
  let retention: Retention
  private let reaper: LocalReaper
  private let folders: FolderListings?
  private let damaged: DamagedCopies?
  /// Sessions in the trash whose remote copy the last review did not find.
  private let vanished: Set<SessionID>
  /// Whether age alone is not enough in a home without a store, because it has used one.
  private let mayNotGoByAge: Bool

  /// Makes a prover for a pass.
  ///
  /// - Parameter days: the days with local sessions.
  /// - Throws: ``Platform/SystemError``.
  init(_ reaper: LocalReaper, _ retention: Retention, _ days: [String]) throws {
    (self.reaper, self.retention) = (reaper, retention)
    folders = reaper.context.map { FolderListings($0.store) }
    damaged = reaper.context.map {
      DamagedCopies($0.home, store: $0.store.location, at: $0.now())
    }
    vanished = Set(
      reaper.context.map { VanishedCopies(of: $0).sessions(leaving: .trash) } ?? [])
    mayNotGoByAge = try reaper.context == nil && Self.hasUsedStore(reaper.home, days)
  }

  /// Whether a home has used a store, by its record or by a sealed session.
  private static func hasUsedStore(_ home: Home, _ days: [String]) throws -> Bool {
    if try !UsedStores.load(home).isEmpty { return true }
    return try days.contains { day in
      try home.sessions(day: day).contains {
        (try? Sidecar.load(home.files(for: $0).sidecar))?.seal != nil
      }
    }
  }

  /// The way to prove that a session's local copy may be deleted; requests at most a listing.
  ///
  /// - Throws: ``Doubt`` if there is none; ``Platform/SystemError``; ``ObjectStore/StoreError``.
  func proof(of local: LocalSession, _ sidecar: Sidecar) async throws -> LocalProof {
    guard let context = reaper.context, let folders else {
      guard !mayNotGoByAge else {
        throw Doubt(
          "this home has used a store, and none is configured to prove its remote copy against")
      }
      if let unproven = reaper.unproven { throw Doubt(unproven) }
      return .age(.unsent)
    }
    guard sidecar.seal != nil else { throw Doubt("it is not sealed yet") }
    // The attacher records when the file is gone: checking its last path here may race with a
    // rotation.
    if let source = sidecar.source, !source.isGone {
      guard try local.hasUnpackedCopy(of: source) else {
        throw Doubt("its file is still there: without this note it would be taken for a new one")
      }
    }
    if sidecar.withholdsLog {
      if sidecar.remoteReapedAt != nil { return .age(.removed) }
      return try await withheldProof(sidecar, folders)
    }
    let log: Sidecar.Seal.LogState?
    do {
      log = try (local.openLog(sidecar.source)?.status())
        .map { Sidecar.Seal.LogState(length: $0.length, modified: $0.modified) }
    } catch let error as SystemError {
      throw Doubt("\(error)")
    }
    if sidecar.remoteReapedAt != nil { return .removed(try SealClaim(removed: sidecar, log: log)) }
    try damaged?.expectUndamaged(local.session)
    let claim = try SealClaim(
      sidecar, sealedFor: retention.asked == nil ? SealClaim.age(of: sidecar, reaper.lived) : nil,
      log: log, store: context.store.location)
    let remote = try await folders.session(local.session, in: claim.folder)
    _ = try claim.check(remote)
    return .seal(claim, remote)
  }

  private func withheldProof(
    _ sidecar: Sidecar, _ folders: FolderListings
  ) async throws -> LocalProof {
    guard sidecar.seal?.length != 0 else { return .age(.withheld) }
    let session = sidecar.sessionId
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    guard try await !sidecar.lacksSentPart(in: folders.session(session, in: folder)) else {
      throw Doubt("the store lacks what was sent of its log", isCopyGone: true)
    }
    return .age(.withheld)
  }

  /// The way to prove that a session's copy in the trash may be deleted; requests at most a listing.
  private func proof(inTrash sidecar: Sidecar) async throws -> LocalProof {
    guard let seal = sidecar.seal else { return .age(.unsent) }
    if sidecar.remoteReapedAt != nil { return .age(.removed) }
    // An age that a person names for now says nothing about the remote copy's.
    if retention.asked == nil, let age = reaper.lived.age(of: sidecar, since: seal.sealedAt),
      age >= retention.remote
    {
      return .age(.removed)
    }
    guard let context = reaper.context, let folders else {
      throw Doubt("no store is configured to prove its remote copy against")
    }
    if sidecar.withholdsLog { return try await withheldProof(sidecar, folders) }
    try damaged?.expectUndamaged(sidecar.sessionId)
    // Asked for by its review, which reports it.
    guard !vanished.contains(sidecar.sessionId) else {
      throw Doubt("its seal is not there any more", isCopyGone: true)
    }
    let claim = try SealClaim(sidecar, sealedFor: nil, log: nil, store: context.store.location)
    let remote = try await folders.session(sidecar.sessionId, in: claim.folder)
    _ = try claim.check(remote)
    return .seal(claim, remote)
  }

  /// The evidence for a copy in the trash: that it has no other one on purpose, or its seal as read
  /// from the store.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  func evidence(inTrash sidecar: Sidecar) async throws -> Result<Evidence, Doubt> {
    try await answer {
      switch try await proof(inTrash: sidecar) {
      case .age(let reason): .expired(inTrash: reason)
      case .removed: .expired(inTrash: .removed)
      case .seal(let claim, let remote): try await confirm(claim, remote)
      }
    }
  }

  /// The evidence: the age, or the seal as read from the store.
  ///
  /// - Parameter age: the copy's age in lived time; nil if it is deleted to free space.
  /// - Throws: ``ObjectStore/StoreError``.
  func evidence(_ proof: LocalProof, age: Duration?) async throws -> Result<Evidence, Doubt> {
    try await answer {
      switch proof {
      case .age(let reason): return try expired(reason, age: age)
      case .removed(let claim):
        try expectSealedLog(claim)
        return try expired(.removed, age: age)
      case .seal(let claim, let remote):
        try expectSealedLog(claim)
        return try await confirm(claim, remote)
      }
    }
  }

  private func expired(_ reason: Evidence.Absence, age: Duration?) throws(Doubt) -> Evidence {
    if let age { return try .expired(locally: reason, age: age, limit: retention.local) }
    guard retention.room == nil else { throw Doubt("only its age decides") }
    return try .expired(locally: reason, toMakeRoom: retention.localMax ?? 0)
  }

  /// Expects the local log to hold nothing else than was sealed.
  private func expectSealedLog(_ claim: SealClaim) throws {
    guard let context = reaper.context else { return }
    let isTouched = try expectSealedParts(claim, context)
    try compare(claim, hasTouchedPart: isTouched, context)
  }

  /// Reads a listed seal.
  private func confirm(_ claim: SealClaim, _ remote: RemoteSession) async throws -> Evidence {
    guard let context = reaper.context else { throw Doubt("no store is configured") }
    // This home recorded the seal's name, and so its hash, when it put it.
    let read = try await RemoteReader(context.store, knowing: nil).read(
      claim.check(remote), in: claim.folder)
    return try claim.confirmed(by: remote, read)
  }

  /// Turns what is wrong with one session into a doubt.
  private func answer(
    _ find: () async throws -> Evidence
  ) async throws -> Result<Evidence, Doubt> {
    do {
      return .success(try await find())
    } catch let doubt as Doubt {
      return .failure(doubt)
    } catch let error as ReplicaError {
      return .failure(Doubt("its seal cannot be read: \(error)"))
    } catch let error as StoreError where !error.concernsWholeStore {
      return .failure(Doubt("its seal cannot be read: \(error)"))
    }
  }

  /// Expects every rotated part within the sealed stream, by its name: also those that are not taken
  /// for parts of the log.
  ///
  /// - Returns: whether one of them changed since the log was compared, by length and time.
  private func expectSealedParts(_ claim: SealClaim, _ context: SyncContext) throws -> Bool {
    let files = LocalSession(context.home, claim.session).files
    let parts: [LogPart]
    do {
      parts = try files.namedParts()
    } catch {
      throw Doubt("its rotated parts cannot be found: \(error)")
    }
    var isTouched = false
    for (number, part) in parts.enumerated() {
      // One that cannot be read has at least a byte.
      let end = part.start + ((try? files.open(part).length) ?? 1)
      // A part that ends before the next one begins only lacks what the store has.
      let next = number + 1 < parts.count ? parts[number + 1].start : claim.length
      let written = [part.plain, part.compressed].compactMap { try? FileStatus($0) }
      isTouched = isTouched || end > next || written.contains(where: claim.isTouched)
      guard end <= claim.length else {
        throw Doubt(
          "its rotated part \(part.plain) is not within the \(claim.length) bytes that were sealed")
      }
    }
    return isTouched
  }

  /// Compares a log that was touched since its seal with the sealed stream.
  private func compare(
    _ claim: SealClaim, hasTouchedPart: Bool, _ context: SyncContext
  ) throws {
    do {
      try claim.check(hasTouchedPart: hasTouchedPart) {
        try LocalSession(context.home, claim.session).openSentLog($0, context)
      }
    } catch let doubt as Doubt {
      throw doubt
    } catch {
      throw Doubt("its log was touched after it was sealed, and cannot be compared: \(error)")
    }
  }
}
