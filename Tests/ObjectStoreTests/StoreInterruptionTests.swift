import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// Connections that break in the middle, in front of every server.
@Suite(.tags(.large)) struct StoreInterruptionTests {
  private static let body: [UInt8] = {
    var generator = SeededGenerator(case: 9)
    return EditScript.random(300_000, &generator)
  }()

  @Test(arguments: Backend.served)
  func `an interrupted put is an error, and the next put repairs it`(
    _ backend: Backend
  ) async throws {
    let cut = OneFault(.cutUpload)
    let (opened, proxy) = try backend.open(through: cut.choice)
    defer { withExtendedLifetime(opened) {} }
    // Its folder exists: the object is truncated.
    _ = try await opened.store.put("c/other", [])
    cut.arm()
    let error = await #expect(throws: StoreError.self) {
      try await opened.store.put("c/cut", Self.body)
    }
    #expect(error?.isTransient == true, "\(String(describing: error))")
    #expect(proxy.exercised == [.cutUpload: 1])
    let left = try await opened.store.listAll("c/cut").objects.map(\.size)
    switch backend.traits.cutPut {
    case .nothing: #expect(left.isEmpty)
    case .half: #expect(left == [ByteCount(Self.body.count / 2)])
    }
    _ = try await opened.store.put("c/cut", Self.body)
    let isRepaired = try await opened.store.get("c/cut") == Self.body
    #expect(isRepaired)
    #expect(try await opened.store.listAll("c/cut").objects.map(\.size) == [300_000])
  }

  @Test(arguments: Backend.served)
  func `a put whose response is lost can be repeated`(_ backend: Backend) async throws {
    let lost = OneFault(.resetAfter)
    let (opened, proxy) = try backend.open(through: lost.choice)
    defer { withExtendedLifetime(opened) {} }
    lost.arm()
    // However long a slow machine takes.
    let start = ContinuousClock.now
    let store = RetryingStore(opened.store, sleep: { _ in }, random: { 1 }, now: { start })
    _ = try await store.put("lost", Self.body)
    #expect(proxy.exercised == [.resetAfter: 1])
    let isSame = try await store.get("lost") == Self.body
    #expect(isSame)
    #expect(try await store.listAll("").objects.map(\.key) == ["lost"])
  }

  @Test(arguments: Backend.served)
  func `a truncated response is a transient error`(_ backend: Backend) async throws {
    let cut = OneFault(.cutAnswer)
    let (opened, proxy) = try backend.open(through: cut.choice)
    defer { withExtendedLifetime(opened) {} }
    _ = try await opened.store.put("s/hort", Self.body)
    let requests: [(String, @Sendable (any ObjectStore) async throws -> Void)] = [
      ("GET", { _ = try await $0.get("s/hort") }),
      ("part", { _ = try await $0.get("s/hort", range: .bytes(offset: 7, count: 1000)) }),
      ("HEAD", { _ = try await $0.head("s/hort") }),
      ("LIST", { _ = try await $0.listAll("s/") }),
      ("PUT", { _ = try await $0.put("s/hort", Self.body) }),
      ("DELETE", { if let error = try await $0.delete(["s/hort"])[0].error { throw error } }),
    ]
    for (name, request) in requests {
      cut.arm()
      let error = await #expect(throws: StoreError.self, "\(name)") {
        try await request(opened.store)
      }
      #expect(error?.isTransient == true, "\(name): \(String(describing: error))")
    }
    #expect(proxy.exercised == [.cutAnswer: requests.count])
  }

  @Test(arguments: Backend.served)
  func `cancelling in the middle of a body takes effect at once`(_ backend: Backend) async throws {
    let held = OneFault(.held)
    let (opened, proxy) = try backend.open(through: held.choice)
    defer { withExtendedLifetime(opened) {} }
    _ = try await opened.store.put("h/there", Self.body)
    let requests: [@Sendable (any ObjectStore) async throws -> Void] = [
      { _ = try await $0.get("h/there") }, { _ = try await $0.put("h/new", Self.body) },
    ]
    for (number, request) in requests.enumerated() {
      held.arm()
      let store = opened.store
      let task = Task { try await request(store) }
      #expect(await proxy.waits(for: .held, times: number + 1))
      task.cancel()
      let error = await #expect(throws: StoreError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      #expect(await proxy.waitsForQuiet())
    }
    // The store continues, and unfinished objects are put again.
    _ = try await opened.store.put("h/new", Self.body)
    let isSame = try await opened.store.get("h/new") == Self.body
    #expect(isSame)
  }
}

/// A fault that affects the next request after it is armed, and no more.
final class OneFault: Sendable {
  private let fault: Fault
  private let isArmed = Guarded(false)

  init(_ fault: Fault) { self.fault = fault }

  func arm() { isArmed.withLock { $0 = true } }

  /// The choice for the proxy.
  var choice: FaultProxy.Choice {
    { [self] _, request in
      guard fault.concerns(request) else { return nil }
      return isArmed.withLock { isArmed in
        defer { isArmed = false }
        return isArmed ? fault : nil
      }
    }
  }
}
