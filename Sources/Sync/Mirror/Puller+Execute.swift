import Foundation
package import Platform
import Replica
package import SessionLog

extension Puller {
  /// Log bytes that wait for the disk together: many files at once cost little more than one.
  private static let batchBytes: ByteCount = 64 << 20
  /// Sessions that wait for it together.
  private static let batchCount = 64

  private enum Step: Sendable {
    case fetched(Item, Result<Fetched?, any Error>)
    case settled(failures: [SessionID: any Error])
  }

  /// Fetches what sessions lack, the log first: a session's sidecar is there when its log is whole
  /// and on the disk.
  ///
  /// - Parameters:
  ///   - items: from ``plan(devices:including:)``.
  ///   - limit: how many sessions to fetch at once.
  ///   - withheld: told of each session whose log was not sent, or not beyond what was fetched,
  ///     because of the consent.
  ///   - kept: told of each session whose log was replaced by a shorter one that its seal proves, and
  ///     of where the longer one is now.
  ///   - report: told of each piece, in bytes of log, from any thread.
  /// - Returns: the sessions that failed, and with what: ``Replica/ReplicaError``,
  ///   ``ObjectStore/StoreError``, ``Platform/SystemError``, ``Platform/SpaceShortage``.
  package func execute(
    _ items: [Item], atOnce limit: Int, withheld: (SessionID) -> Void = { _ in },
    kept: (SessionID, String) -> Void = { _, _ in },
    report: @escaping @Sendable (ByteCount) -> Void = { _ in }
  ) async -> [SessionID: any Error] {
    await withTaskGroup(of: Step.self) { group in
      var failures: [SessionID: any Error] = [:]
      var waiting: [Fetched] = []
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
          failures[item.remote.session] = error
        case .fetched(let item, .success(let session)):
          fetching -= 1
          if let session { waiting.append(session) }
          if session?.sidecar.withholdsLog == true { withheld(item.remote.session) }
          if let path = session?.kept { kept(item.remote.session, path) }
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
  ) async -> Result<Fetched?, any Error> {
    do {
      return .success(
        try await objects.hold(item.largestObject) { _ in try await fetch(item, report: report) })
    } catch {
      return .failure(error)
    }
  }

  /// Settles sessions on a thread of their own: waiting for the disk must not keep the others from
  /// being fetched.
  private func settle(sessions: [Fetched]) async -> [SessionID: any Error] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: failuresOfSettling(sessions)) }
    }
  }

  private func failuresOfSettling(_ sessions: [Fetched]) -> [SessionID: any Error] {
    var failures: [SessionID: any Error] = [:]
    if (try? settle(sessions)) == nil {
      // What one of them suffers from is not the others' fault.
      for session in sessions {
        do { try settle([session]) } catch { failures[session.item.remote.session] = error }
      }
    }
    return failures
  }
}
