import Foundation
package import Platform
package import Replica
import SessionLog

extension Puller {
  /// Log bytes synced to disk together: syncing many files at once costs little more than one.
  private static let batchBytes: ByteCount = 64 << 20
  /// Sessions synced to disk together.
  private static let batchCount = 64

  private enum Step: Sendable {
    case fetched(Item, Result<FetchedSession?, any Error>)
    case settled(failures: [DeviceSession: any Error])
  }

  /// Fetches the missing parts of sessions, log first: a sidecar is written once its log is
  /// complete and durable.
  ///
  /// - Parameters:
  ///   - items: from ``plan(devices:including:)``.
  ///   - limit: maximum number of sessions fetched at once.
  ///   - withheld: called for each session whose log was not sent, or only in part, because of the
  ///     consent.
  ///   - kept: called for each session whose log was replaced by one that lacks bytes of it, with
  ///     the former one.
  ///   - report: called for each piece, with its log bytes, from any thread.
  /// - Returns: the sessions that failed, with the error: ``Replica/ReplicaError``,
  ///   ``ObjectStore/StoreError``, ``Platform/SystemError``, ``Platform/SpaceShortage``.
  package func execute(
    _ items: [Item], atOnce limit: Int, withheld: (DeviceSession) -> Void = { _ in },
    kept: (DeviceSession, KeptLog) -> Void = { _, _ in },
    report: @escaping @Sendable (ByteCount) -> Void = { _ in }
  ) async -> [DeviceSession: any Error] {
    await withTaskGroup(of: Step.self) { group in
      var failures: [DeviceSession: any Error] = [:]
      var waiting: [FetchedSession] = []
      var rest = items[...]
      var fetching = 0
      func start() {
        guard let item = rest.popFirst() else { return }
        fetching += 1
        group.addTask { .fetched(item, await result(of: item, report)) }
      }
      let limit = Parallelism.isSequential ? 1 : max(1, limit)
      for _ in 0..<limit { start() }
      while let step = await group.next() {
        switch step {
        case .settled(let failed): failures.merge(failed) { first, _ in first }
        case .fetched(let item, .failure(let error)):
          fetching -= 1
          failures[item.remote.deviceSession] = error
        case .fetched(let item, .success(let session)):
          fetching -= 1
          if let session { waiting.append(session) }
          if session?.sidecar.withholdsLog == true { withheld(item.remote.deviceSession) }
          if let former = session?.kept { kept(item.remote.deviceSession, former) }
        }
        if Parallelism.isSequential, !waiting.isEmpty {
          failures.merge(failuresOfSettling(waiting)) { first, _ in first }
          waiting = []
        }
        if fetching < limit { start() }
        let bytes = waiting.reduce(0) { $0 + $1.item.missing }
        if !waiting.isEmpty,
          fetching == 0 || waiting.count >= Self.batchCount || bytes >= Self.batchBytes
        {
          group.addTask { [waiting] in .settled(failures: await settle(sessions: waiting)) }
          waiting = []
        }
      }
      return failures
    }
  }

  private func result(
    of item: Item, _ report: @Sendable (ByteCount) -> Void
  ) async -> Result<FetchedSession?, any Error> {
    let fetch = SessionFetch(
      store: store, mirror: mirror, keys: keys, space: space, replacesFormer: replacesFormer,
      limit: limit)
    do {
      return .success(
        try await objects.withUnits(item.largestObject) { _ in
          try await fetch.run(item, report: report)
        })
    } catch {
      return .failure(error)
    }
  }

  /// Settles sessions on a separate thread, so that waiting for the disk does not delay fetching
  /// others.
  private func settle(sessions: [FetchedSession]) async -> [DeviceSession: any Error] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: failuresOfSettling(sessions)) }
    }
  }

  private func failuresOfSettling(_ sessions: [FetchedSession]) -> [DeviceSession: any Error] {
    var failures: [DeviceSession: any Error] = [:]
    for session in sessions { failures[session.item.remote.deviceSession] = session.problem }
    if (try? mirror.settle(sessions)) == nil {
      // One session's failure must not affect the others.
      for session in sessions {
        do {
          try mirror.settle([session])
        } catch {
          failures[session.item.remote.deviceSession] = error
        }
      }
    }
    return failures
  }
}
