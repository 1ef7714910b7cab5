import Foundation
import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

@Suite(.tags(.medium)) struct RetryingStoreTests {
  /// Records the requested pauses.
  final class Pauses: Sendable {
    private let list = Guarded<[Duration]>([])
    func add(_ pause: Duration) { list.withLock { $0.append(pause) } }
    var all: [Duration] { list.withLock { $0 } }
  }

  private func faulty() throws -> (FaultyStore, TemporaryDirectory) {
    let folder = try TemporaryDirectory()
    return (FaultyStore(DirectoryStore(path: folder.path, machine: .current)), folder)
  }

  private func retrying(_ store: any ObjectStore, _ pauses: Pauses) -> RetryingStore {
    let start = ContinuousClock.now
    return RetryingStore(store, sleep: { pauses.add($0) }, random: { 1 }, now: { start })
  }

  @Test(arguments: [(1, true, 1), (3, true, 3), (4, false, 3)])
  func `a transient failure is retried up to three times`(
    faults: Int, succeeds: Bool, expectedPauses: Int
  ) async throws {
    let (store, folder) = try faulty()
    defer { withExtendedLifetime(folder) {} }
    store.plan(.failAfter, on: "PUT", times: faults)
    let pauses = Pauses()
    let outcome = await Result.of { try await retrying(store, pauses).put("a", [1]) }
    #expect(outcome == succeeds)
    let pattern: [Duration] = [.seconds(0.2), .seconds(0.4), .seconds(0.8)]
    #expect(pauses.all == Array(pattern.prefix(expectedPauses)))
    #expect(store.unexercised.isEmpty)
  }

  @Test(arguments: StoreError.Code.allCases.filter { RetryPolicy().rows[$0] == nil })
  func `a failure that is not transient is not retried`(_ code: StoreError.Code) async throws {
    let (store, folder) = try faulty()
    defer { withExtendedLifetime(folder) {} }
    store.plan(.failBefore(code), on: "GET")
    let pauses = Pauses()
    let error = await #expect(throws: StoreError.self) {
      try await retrying(store, pauses).get("a")
    }
    #expect(error?.code == code)
    #expect(store.unexercised.isEmpty)
    #expect(pauses.all.isEmpty)
  }

  @Test(arguments: 0..<20)
  func `the number of requests equals the retry policy's prediction`(round: Int) async throws {
    var generator = SeededGenerator(case: round)
    let (store, folder) = try faulty()
    defer { withExtendedLifetime(folder) {} }
    _ = try await store.put("a", [1])
    _ = store.takeRequests()
    var expected = 0
    for _ in 0..<25 {
      let faults = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
        [.transient, .overloaded, .unreachable, .conflict].randomElement(using: &generator)
          ?? StoreError.Code.transient
      }
      let requests = RetryPolicy().requests(facing: faults)
      for fault in faults.prefix(requests) { store.plan(.failBefore(fault), on: "GET") }
      let succeeds = await Result.of { try await retrying(store, Pauses()).get("a") }
      #expect(succeeds == (requests > faults.count))
      expected += requests
    }
    #expect(store.unexercised.isEmpty)
    #expect(store.takeRequests().count == expected)
  }

  @Test func `Retry-After is honoured up to a limit`() async throws {
    let busy = ScriptedServer.answer("503 Busy", headers: ["Retry-After: 30"])
    let server = try ScriptedServer([busy, busy, busy])
    let pauses = Pauses()
    let store = WebDAVStore(url: server.url, login: nil, transport: .patient())
    let error = await #expect(throws: StoreError.self) {
      try await retrying(store, pauses).put("a", [1])
    }
    #expect(error?.isTransient == true)
    #expect(pauses.all == [.seconds(30)])
  }

  @Test func `cancellation ends a retry pause`() async throws {
    let (store, folder) = try faulty()
    defer { withExtendedLifetime(folder) {} }
    store.plan(.failBefore(.transient), on: "PUT")
    let retrying = RetryingStore(store, sleep: { _ in throw CancellationError() }, random: { 0 })
    let error = await #expect(throws: StoreError.self) { try await retrying.put("a", [1]) }
    #expect(store.unexercised.isEmpty)
    #expect(error?.code == .cancelled)
  }
}

extension Result where Failure == any Error {
  /// Whether the body succeeds.
  static func of(_ body: () async throws -> Success) async -> Bool {
    do {
      _ = try await body()
      return true
    } catch {
      return false
    }
  }
}
