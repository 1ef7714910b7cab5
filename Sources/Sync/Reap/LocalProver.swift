import ObjectStore
import Platform
import Replica
import SessionLog

/// What may show that a local copy can go.
enum LocalProof {
  /// Its age alone.
  case age(Evidence.Absence)
  /// Its seal, which a listing of this pass shows with all that it names.
  case seal(SealClaim, RemoteSession)
}

/// Looks for the evidence that local copies may go.
struct LocalProver {
  let retention: Retention
  private let reaper: LocalReaper
  private let folders: FolderListings?
  /// Whether sessions of a home without a store stay, as it has used one.
  private let mayNotGoByAge: Bool

  /// Makes one for a pass.
  ///
  /// - Parameter days: those that have local sessions.
  /// - Throws: ``Platform/SystemError``.
  init(_ reaper: LocalReaper, _ retention: Retention, _ days: [String]) throws {
    (self.reaper, self.retention) = (reaper, retention)
    folders = reaper.context.map { FolderListings($0.store) }
    mayNotGoByAge = try reaper.context == nil && Self.hasUsedStore(reaper.home, days)
  }

  /// Whether a home has used a store: its record says so, or a session was sealed.
  private static func hasUsedStore(_ home: Home, _ days: [String]) throws -> Bool {
    if try !UsedStores.load(home).isEmpty { return true }
    return try days.contains { day in
      try home.sessions(day: day).contains {
        (try? Sidecar.load(home.files(for: $0).sidecar))?.seal != nil
      }
    }
  }

  /// What can show that a session's local copy may go; the store is asked for a listing at the most.
  ///
  /// - Throws: ``Doubt`` where nothing can; ``Platform/SystemError``; ``ObjectStore/StoreError``.
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
    // The attacher notes when the file is gone: a look at where it was last may meet a rotation.
    if let source = sidecar.source, source.inode != 0 {
      throw Doubt("its file is still there: without this note it would be taken for a new one")
    }
    if sidecar.remoteReapedAt != nil { return .age(.removed) }
    if sidecar.withholdsLog { return .age(.withheld) }
    let length: StreamOffset?
    do {
      length = try local.openLog(sidecar.source)?.status().length
    } catch let error as SystemError {
      throw Doubt("\(error)")
    }
    let claim = try SealClaim(
      sidecar, sealedFor: retention.asked == nil ? SealClaim.age(of: sidecar, reaper.lived) : nil,
      logLength: length, store: context.store.location)
    let remote = try await folders.session(local.session, in: claim.folder)
    _ = try claim.check(remote)
    return .seal(claim, remote)
  }

  /// The evidence: the age, or the seal as it is read from the store.
  ///
  /// - Parameter age: the copy's, in lived time; nil where it goes to make room.
  /// - Throws: ``ObjectStore/StoreError``.
  func evidence(_ proof: LocalProof, age: Duration?) async throws -> Result<Evidence, Doubt> {
    do {
      switch proof {
      case .age(let reason):
        guard let age else {
          return .success(try .expired(locally: reason, toMakeRoom: retention.localMax ?? 0))
        }
        return .success(try .expired(locally: reason, age: age, limit: retention.local))
      case .seal(let claim, let remote):
        guard let store = reaper.context?.store else { throw Doubt("no store is configured") }
        let read = try await RemoteReader(store).read(claim.check(remote), in: claim.folder)
        return .success(try claim.confirmed(by: remote, read))
      }
    } catch let doubt as Doubt {
      return .failure(doubt)
    } catch let error as ReplicaError {
      return .failure(Doubt("its seal cannot be read: \(error)"))
    } catch let error as StoreError where !error.concernsWholeStore {
      return .failure(Doubt("its seal cannot be read: \(error)"))
    }
  }
}
