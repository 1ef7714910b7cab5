import HTTPTransport
import Logging
import ObjectStore
import Platform
import Synchronization
import TestServers
import TestSupport
import Testing

@Suite(.tags(.small)) struct LoggingStoreTests {
  /// A clock that advances 12 ms with each reading.
  private func logging(
    _ store: any ObjectStore, _ lines: LogLines, _ level: Logger.Level
  ) -> LoggingStore {
    let start = ContinuousClock.now
    let looks = Mutex(0)
    return LoggingStore(store, lines.logger(level)) {
      looks.withLock { looks in
        looks += 1
        return start + .milliseconds(12 * looks)
      }
    }
  }

  /// Uses every operation once.
  private func useAll(_ store: any ObjectStore) async throws {
    _ = try await store.put("a/b", [1, 2, 3])
    _ = try await store.get("a/b")
    _ = try await store.get("a/b", range: .bytes(offset: 1, count: 2))
    _ = try await store.head("a/b")
    _ = try? await store.head("nothing")
    _ = try await store.list("", after: nil)
    _ = try await store.delete(["a/b", "c"])
    _ = try await store.delete([])
  }

  @Test func `each store operation logs a line with size and duration`() async throws {
    let lines = LogLines()
    try await useAll(logging(MemoryStore(), lines, .debug))
    #expect(
      lines.all == [
        "info put a/b: 3 B, 12 ms", "debug get a/b: 3 B, 12 ms",
        "debug get a/b bytes=1-2: 2 B, 12 ms", "debug head a/b: 3 B, 12 ms",
        "debug head nothing failed: HEAD nothing: no such object, 12 ms",
        "debug list /: 1 objects, 0 folders, 12 ms", "debug delete 2 objects: 0 failed, 12 ms",
        "info delete a/b", "info delete c",
      ])
  }

  @Test func `only changes to the store are logged at level info`() async throws {
    let lines = LogLines()
    try await useAll(logging(MemoryStore(), lines, .info))
    #expect(lines.all == ["info put a/b: 3 B, 12 ms", "info delete a/b", "info delete c"])
  }

  @Test(arguments: [(Logger.Level.info, true), (.debug, true), (.warning, false)])
  func `a store is wrapped only if its log level needs it`(
    _ level: Logger.Level, _ isWrapped: Bool
  ) {
    let store = LoggingStore.wrapping(MemoryStore(), LogLines().logger(level))
    #expect((store is LoggingStore) == isWrapped)
    #expect(LoggingStore.wrapping(MemoryStore(), .off) is MemoryStore)
  }

  @Test func `each retry is logged with its pause and reason`() async throws {
    let store = FaultyStore(MemoryStore())
    let lines = LogLines()
    func retrying(_ logger: Logger) -> RetryingStore {
      RetryingStore(
        LoggingStore.wrapping(store, logger), logger: logger, sleep: { _ in }, random: { 1 })
    }
    store.plan(.failBefore(.transient), on: "PUT", times: 2)
    _ = try await retrying(lines.logger(.warning)).put("k", [1])
    #expect(
      lines.all == [
        "warning attempt 1 of PUT k failed; next in 0.2 s: PUT k: planned fault",
        "warning attempt 2 of PUT k failed; next in 0.4 s: PUT k: planned fault",
      ])
    store.plan(.failBefore(.unreachable), on: "GET", times: 2)
    _ = try? await retrying(lines.logger(.warning)).get("k")
    #expect(lines.all.last == "warning GET k failed 2 times")
    #expect(store.unexercised.isEmpty)
  }

  /// A decorator forwards everything it does not change, conditional requests included.
  @Test func `decorators forward everything that they do not change`() async throws {
    let folder = try TemporaryDirectory()
    let base = DirectoryStore(path: folder.path, machine: .current)
    let stores: [any ObjectStore] = [
      RetryingStore(base, random: { 1 }),
      ClockedStore(base, ServerClock()) { Timestamp(milliseconds: 0) },
      LoggingStore(base, .off),
    ]
    for (number, store) in stores.enumerated() {
      #expect(store.location == base.location && store.isFolder)
      _ = try await store.putIfAbsent("k\(number)", [1])
      let error = await #expect(throws: StoreError.self) {
        try await store.putIfAbsent("k\(number)", [2])
      }
      #expect(error?.code == .conflict)
      #expect(try await store.head("k\(number)").size == 1)
      #expect(try await store.listAll("").objects.map(\.key).contains("k\(number)"))
      #expect(try await store.delete(["k\(number)"])[0].error == nil)
    }
  }
}

/// Nothing is formatted, and no foreign handler is called, unless a logger was given.
@Suite(.tags(.small)) struct SilentLoggingTests {
  private static let bootstrapped: LogLines = {
    let lines = LogLines()
    LoggingSystem.bootstrap { _ in lines.handler(.trace) }
    return lines
  }()

  @Test func `messages below the log level are not evaluated`() {
    func message() -> Logger.Message {
      Issue.record("a message was made that is not logged")
      return ""
    }
    Logger.off.error("\(message())")
    LogLines().logger(.info).debug(message())
  }

  @Test func `the application's own log handler gets no store messages`() async throws {
    let lines = Self.bootstrapped
    Logger(label: "the program's").info("its own")
    #expect(lines.all == ["info its own"])
    let folder = try TemporaryDirectory()
    let store = try openStore(
      StoreURL("file://\(folder.path)"), settings: StoreSettings(machine: .current),
      environment: [:])
    _ = try await store.put("k", [1])
    let server = try ScriptedServer([ScriptedServer.answer("404 Not Found")])
    var policy = RetryPolicy()
    policy.rows = [:]
    let remote = try openStore(
      StoreURL(server.url), settings: StoreSettings(machine: .current), environment: [:],
      policy: policy)
    _ = try? await remote.get("k")
    #expect(lines.all == ["info its own"])
  }
}
