import Foundation
import ObjectStore
import Platform
package import Replica
import SessionLog

/// Holds a session in the store against every reaper.
package struct RemoteHold {
  private let context: SyncContext

  /// Makes holds in a context's store.
  package init(_ context: SyncContext) { self.context = context }

  private struct Content: Encodable {
    let until: Timestamp
    let device: String
  }

  /// How long after a hold was put a reaper may still delete without having seen it.
  static let notice = RemoteReaper.listingLife + RemoteReaper.listingLife

  /// Holds a session, replacing earlier holds.
  ///
  /// A reaper that does not know of the hold yet may still delete the session: see
  /// ``outlastReapers(_:pausing:)``.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing.
  ///   - duration: how long from now on, by the server's clock if its answers show it.
  /// - Throws: ``ObjectStore/StoreError``; ``Replica/ReplicaError`` if a reaper that had not seen
  ///   the hold deleted objects of the session meanwhile.
  package func keep(_ remote: RemoteSession, for duration: Duration) async throws {
    let until = context.serverNow + min(duration, Holds.longest)
    let name = HoldName(remote.session, until: until)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = try encoder.encode(
      Content(until: Timestamp(milliseconds: until.milliseconds), device: context.device.deviceId))
    let key = remote.folder.key + name.fileName
    do {
      _ = try await context.store.put(key, Array(json) + [0x0a])
    } catch let error as StoreError where RemoteWriter.mayMeanTaken(error) {
      // Where names are write-once, the first hold of that day stays.
      guard (try? await context.store.head(key)) != nil else { throw error }
    }
    try await delete(remote.holds.map(\.name).filter { $0 != name }, of: remote)
    try await check(remote)
  }

  /// Waits until every reaper has seen the holds that were put on sessions, and looks at them again.
  ///
  /// Reapers leave what is young, so only older sessions are waited for.
  ///
  /// - Parameters:
  ///   - kept: the sessions as they were before their holds.
  ///   - pausing: waits that long; not called if there is nothing to wait for.
  /// - Returns: the sessions of which objects were deleted nevertheless, each with the reason.
  /// - Throws: ``ObjectStore/StoreError``; errors of `pausing`.
  package func outlastReapers(
    _ kept: [RemoteSession], pausing: (Duration) async throws -> Void
  ) async throws -> [DeviceSession: ReplicaError] {
    let young = context.serverNow - Self.youth
    let old = kept.filter { $0.newest.map { $0 < young } ?? true }
    guard !old.isEmpty else { return [:] }
    try await pausing(Self.notice)
    var gone: [DeviceSession: ReplicaError] = [:]
    for remote in old {
      do {
        try await check(remote)
      } catch let error as ReplicaError {
        gone[remote.deviceSession] = error
      }
    }
    return gone
  }

  /// The age below which no reaper deletes a session.
  private static let youth = Duration.hours(1)

  /// Lists the session again, and compares.
  ///
  /// - Parameter remote: the session as it was before the hold.
  /// - Throws: ``ObjectStore/StoreError``; ``Replica/ReplicaError`` if objects were deleted since.
  func check(_ remote: RemoteSession) async throws {
    guard remote.hasContent else { return }
    let listing = try await FolderListing(
      remote.folder, session: remote.session, in: context.store)
    let left = listing[remote.session, in: remote.folder]
    guard left.mark >= remote.mark, remote.revision == nil || left.revision != nil,
      remote.seal == nil || left.seal != nil
    else {
      throw ReplicaError(
        .missingBytes,
        "objects of \(remote.session) were deleted while it was put on hold; "
          + "'tidemark verify \(remote.session)' shows what is left")
    }
  }

  /// Puts the hold of a session that was held before it reached the store; makes no request for any
  /// other.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  func keepHeld(_ session: SessionID, in folder: SessionFolder) async throws {
    let (holds, time) = (Holds(context.home), context.lived.time)
    guard holds.isHeld(session, at: time) else { return }
    let rest = try? holds.hold(on: session)?.rest(at: time)
    try await keep(RemoteSession(folder: folder, session: session), for: rest ?? Holds.longest)
  }

  /// Ends the holds on a session.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``ObjectStore/StoreError``.
  package func release(_ remote: RemoteSession) async throws -> Bool {
    try await delete(remote.holds.map(\.name), of: remote)
    return !remote.holds.isEmpty
  }

  private func delete(_ names: [HoldName], of remote: RemoteSession) async throws {
    guard !names.isEmpty else { return }
    // Deleting a hold needs no evidence: it has no log bytes.
    let outcomes = try await context.store.delete(names.map { remote.folder.key + $0.fileName })
    if let error = outcomes.lazy.compactMap(\.error).first { throw error }
  }
}
