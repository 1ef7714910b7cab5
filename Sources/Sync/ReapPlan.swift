import Foundation
import ObjectStore
public import Replica
public import SessionLog

/// What retention means to delete, and why; a value that can be printed and tested.
public struct ReapPlan: Sendable, Equatable {
  /// What happens to one session on one side.
  public struct Decision: Sendable, Equatable {
    /// The session.
    public let session: SessionID
    /// The folder of its objects; nil for the local side.
    public let folder: SessionFolder?
    /// Keys to delete in order; empty for the local side.
    public let keys: [String]
    /// Bytes that it takes.
    public let bytes: Int64
    /// Why it goes or stays, for a person.
    public let reason: String
  }

  /// Local sessions to remove.
  public var local: [Decision] = []
  /// Remote sessions to remove.
  public var remote: [Decision] = []
  /// Objects of kept remote sessions that nothing needs.
  public var superseded: [Decision] = []
  /// Sessions looked at and kept.
  public var kept: [Decision] = []
  /// Why the remote part must not be carried out without force; nil when it may.
  public var refusal: String?

  /// Nothing to do.
  public init() {}

  /// Nothing would be deleted.
  public var isEmpty: Bool { local.isEmpty && remote.isEmpty && superseded.isEmpty }
}

/// The local side of retention: sealed sessions that are old enough and proven remote.
public struct LocalReaper: Sendable {
  private let home: Home
  private let device: Device
  private let context: SyncContext?
  private let now: Timestamp

  /// Makes a planner.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - device: this device.
  ///   - context: the store to prove against; nil where nothing is uploaded and age alone decides.
  ///   - now: the time.
  public init(home: Home, device: Device, context: SyncContext?, now: Timestamp) {
    self.home = home
    self.device = device
    self.context = context
    self.now = now
  }

  /// Plans.
  ///
  /// Only day folders that can hold something old enough are read, so a pass with nothing due
  /// costs one directory listing.
  ///
  /// - Throws: ``SessionLog/SystemError``; ``ObjectStore/StoreError`` when the proof cannot be had.
  public func plan(_ retention: Retention) async throws -> ReapPlan {
    var plan = ReapPlan()
    let limit = Timestamp(milliseconds: now.milliseconds - retention.local * 1000)
    var spared: [(Decision, Timestamp)] = []
    let folders = context.map { FolderListings($0.store) }
    for day in try home.days() where retention.localMax != nil || day <= limit.day {
      for session in try home.sessions(day: day) {
        let local = LocalSession(home, session)
        guard let (sidecar, ended, bytes) = try ending(of: local) else { continue }
        let age = Age.text((now.milliseconds - ended.milliseconds) / 1000)
        func decision(_ reason: String) -> Decision {
          Decision(session: session, folder: nil, keys: [], bytes: bytes, reason: reason)
        }
        if let reason = try await unproven(sidecar, local, folders) {
          if ended <= limit { plan.kept.append(decision("ended \(age) ago, but \(reason)")) }
        } else if ended <= limit {
          plan.local.append(decision("ended \(age) ago"))
        } else if context != nil, sidecar.withholdsLog {
          plan.kept.append(decision("ended \(age) ago; its log was not sent"))
        } else {
          spared.append((decision("ended \(age) ago"), ended))
        }
      }
    }
    try shrink(to: retention.localMax, &plan, spared)
    return plan
  }

  private typealias Decision = ReapPlan.Decision

  /// Takes the oldest of the rest until what stays fits.
  private func shrink(
    to limit: Int64?, _ plan: inout ReapPlan, _ spared: [(Decision, Timestamp)]
  ) throws {
    let reaped = plan.local.reduce(0) { $0 + $1.bytes }
    var excess = try limit.map { try home.sessionBytes() - reaped - $0 } ?? 0
    for (decision, _) in spared.sorted(by: { $0.1 < $1.1 }) {
      if excess > 0 {
        excess -= decision.bytes
        plan.local.append(
          Decision(
            session: decision.session, folder: nil, keys: [], bytes: decision.bytes,
            reason: decision.reason + "; local-max is exceeded"))
      } else {
        plan.kept.append(decision)
      }
    }
  }

  /// When a session ended; nil while it goes on or cannot be read.
  private func ending(of local: LocalSession) throws -> (Sidecar, Timestamp, Int64)? {
    guard let sidecar = try? Sidecar.load(local.files.sidecar) else { return nil }
    let log = try? local.openLog(sidecar.source)
    let modified = try log?.status().modified ?? sidecar.lastUpdatedAt
    guard sidecar.status != .active || context == nil else { return nil }
    if sidecar.seal == nil {
      guard let lock = try SessionLock.tryExclusive(local.files.lock) else { return nil }
      withExtendedLifetime(lock) {}
    }
    return (sidecar, sidecar.endedAt ?? modified, try local.logBytes())
  }

  /// Whether a foreign file is certain to be gone: its folder is there, on the file system where it was.
  private static func isGone(_ source: Sidecar.Source) throws -> Bool {
    let folder = AttachedFile.folder(of: source.path)
    guard let place = try? FileStatus(folder), place.device == source.device else { return false }
    return try FileStatus(source.path).map { $0.inode != source.inode } ?? true
  }

  /// Why a session's local bytes must stay; nil when every one is proven remote, in this pass.
  private func unproven(
    _ sidecar: Sidecar, _ local: LocalSession, _ folders: FolderListings?
  ) async throws -> String? {
    guard let context, let folders else { return nil }
    guard let seal = sidecar.seal else { return "it is not sealed yet" }
    if let source = sidecar.source, source.inode != 0, try !Self.isGone(source) {
      return "its file is still there: without this note it would be taken for a new one"
    }
    // Nobody is to have the log: its age alone decides.
    if sidecar.remoteReapedAt != nil || sidecar.withholdsLog { return nil }
    guard seal.store == context.store.location else {
      return "it was sent to \(seal.store), not to the configured store"
    }
    do {
      if let length = try local.openLog(sidecar.source)?.status().length, length != seal.length {
        return "its log has \(length) bytes, not the \(seal.length) that were sealed"
      }
    } catch let error as SystemError {
      return "\(error)"
    }
    let folder = SessionFolder(device: sidecar.deviceId, session: local.session)
    let remote = try await folders.session(local.session, in: folder)
    guard remote.seal?.fileName == seal.revision else { return "its seal is not there any more" }
    guard remote.cover(upTo: seal.length).last?.range.upperBound ?? 0 == seal.length,
      Set(sidecar.basis ?? []).isSubset(of: remote.segments.map(\.fileName))
    else {
      return "its remote copy is not whole; 'tidemark verify --repair \(local.session)' mends it"
    }
    return nil
  }

  /// Carries out the local part of a plan, and removes what killed processes left of the home's own
  /// files.
  ///
  /// - Returns: one outcome a session, in the plan's order; nil where it went well.
  public func execute(_ plan: ReapPlan) -> [(decision: ReapPlan.Decision, error: (any Error)?)] {
    for folder in [home.path, home.rulesPath, home.quarantinePath] { AtomicFile.sweep(folder) }
    return plan.local.map { decision in
      do {
        _ = try LocalSession(home, decision.session).removeFiles()
        return (decision, nil)
      } catch {
        return (decision, error)
      }
    }
  }
}
