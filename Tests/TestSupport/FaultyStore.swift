import Foundation
package import ObjectStore
import Replica
import Synchronization

/// A store that counts requests and fails as planned.
package final class FaultyStore: ObjectStore {
  /// The kinds of faults.
  package enum Fault: Sendable, Equatable {
    /// The answer is an error; nothing is done.
    case failBefore(StoreError.Code)
    /// The request is carried out, but its answer is lost.
    case failAfter
    /// Half of the body is stored under the name, with an error as the answer.
    case truncate
    /// The body is stored with one bit flipped, with success as the answer.
    case flip
    /// The process dies here: nothing more is sent.
    case die
  }

  /// One planned fault.
  package struct Plan: Sendable {
    let operation: String
    let keyPart: String
    let fault: Fault
    /// Remaining number of occurrences.
    var times: Int
  }

  private struct State {
    var plans: [Plan] = []
    var requests: [String] = []
    var markerReads = 0
    var isDead = false
    var hidden: String?
    var largest = Int.max
    var refused = 0
    var segmentsUnderWay = 0
    var mostUnderWay = 0
    var gathered = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let wrapped: any ObjectStore
  private let state = Mutex(State())

  /// Wraps a store.
  package init(_ wrapped: any ObjectStore) { self.wrapped = wrapped }

  /// Plans a fault for the next requests of this kind.
  package func plan(
    _ fault: Fault, on operation: String, keyContaining part: String = "", times: Int = 1
  ) {
    let plan = Plan(operation: operation, keyPart: part, fault: fault, times: times)
    state.withLock { $0.plans.append(plan) }
  }

  /// Removes and returns the remaining planned faults: for tests that cannot know the requests, and
  /// count instead.
  @discardableResult
  package func forgetPlans() -> [Plan] {
    state.withLock { state in
      defer { state.plans = [] }
      return state.plans
    }
  }

  /// Refuses larger bodies from now on, like a server with a limit.
  package func refuseAbove(_ bytes: Int) { state.withLock { $0.largest = bytes } }

  /// Delays segments until this number of them is in transit at once.
  package func gather(_ segments: Int) { state.withLock { $0.gathered = segments } }

  /// The largest number of segments that were in transit at once.
  package var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

  private func begin() async {
    await withCheckedContinuation { segment in
      let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
        state.segmentsUnderWay += 1
        state.mostUnderWay = max(state.mostUnderWay, state.segmentsUnderWay)
        state.waiting.append(segment)
        guard state.waiting.count >= state.gathered else { return [] }
        state.gathered = 0
        defer { state.waiting = [] }
        return state.waiting
      }
      for segment in ready { segment.resume() }
    }
  }

  /// Number of bodies refused for their size.
  package var refused: Int { state.withLock { $0.refused } }

  /// Planned faults that did not occur: a test with any tested less than it claims.
  package var unexercised: [Plan] { state.withLock { $0.plans } }

  /// Requests so far, `PUT key`; reading them clears the list.
  ///
  /// Without reads of a folder's marker, which every pass makes and which cost nothing; see
  /// ``takeMarkerReads()``.
  package func takeRequests() -> [String] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// Number of reads of a folder's marker; reading it resets it.
  package func takeMarkerReads() -> Int {
    state.withLock { state in
      defer { state.markerReads = 0 }
      return state.markerReads
    }
  }

  /// Revives a dead store for the next process.
  package func revive() { state.withLock { $0.isDead = false } }

  /// Leaves objects with this in their key out of listings, like a store whose listings lag; nil
  /// shows all.
  package func hide(_ part: String?) { state.withLock { $0.hidden = part } }

  private func fault(_ operation: String, _ key: String) throws -> Fault? {
    let fault: Fault? = try state.withLock { state in
      guard !state.isDead else { throw CancellationError() }
      if wrapped.isFolder, operation == "GET", key == FormatMarker.key {
        state.markerReads += 1
      } else {
        state.requests.append("\(operation) \(key)")
      }
      let matching = state.plans.firstIndex { plan in
        plan.operation == operation && (plan.keyPart.isEmpty || key.contains(plan.keyPart))
      }
      guard let index = matching else { return nil }
      state.plans[index].times -= 1
      let fault = state.plans[index].fault
      if state.plans[index].times == 0 { state.plans.remove(at: index) }
      if fault == .die { state.isDead = true }
      return fault
    }
    switch fault {
    case .die: throw CancellationError()
    case .failBefore(let code): throw Self.error(code, operation, key)
    default: return fault
    }
  }

  private static func error(
    _ code: StoreError.Code, _ operation: String, _ key: String
  ) -> StoreError {
    StoreError(code, operation: operation, target: key, response: "planned fault")
  }

  /// The wrapped store's.
  package var location: String { wrapped.location }

  /// See `ObjectStore`.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    let isTooLarge = state.withLock { state in
      guard body.count > state.largest else { return false }
      state.refused += 1
      return true
    }
    if isTooLarge { throw Self.error(.tooLarge, "PUT", key) }
    if key.hasSuffix(".log.zst") { await begin() }
    defer { if key.hasSuffix(".log.zst") { state.withLock { $0.segmentsUnderWay -= 1 } } }
    switch try fault("PUT", key) {
    case .truncate:
      _ = try await wrapped.put(key, Array(body.prefix(body.count / 2)))
      throw Self.error(.transient, "PUT", key)
    case .flip:
      var body = body
      body[body.count / 2] ^= 1
      return try await wrapped.put(key, body)
    case .failAfter:
      _ = try await wrapped.put(key, body)
      throw Self.error(.transient, "PUT", key)
    default: return try await wrapped.put(key, body)
    }
  }

  /// See `ObjectStore`.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    _ = try fault("GET", key)
    return try await wrapped.get(key, range: range)
  }

  /// See `ObjectStore`.
  package func head(_ key: String) async throws -> ObjectEntry {
    _ = try fault("HEAD", key)
    return try await wrapped.head(key)
  }

  /// See `ObjectStore`.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    _ = try fault("LIST", prefix)
    var page = try await wrapped.list(prefix, after: token)
    if let hidden = state.withLock({ $0.hidden }) {
      page.objects.removeAll { $0.key.contains(hidden) }
    }
    return page
  }

  /// See `ObjectStore`.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    for key in keys { _ = try fault("DELETE", key) }
    return try await wrapped.delete(keys)
  }
}
