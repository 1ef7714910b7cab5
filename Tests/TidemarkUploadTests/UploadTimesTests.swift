import ObjectStore
import Platform
import SessionLog
import Synchronization
import TestSupport
import Testing
import TidemarkLogging

@testable import TidemarkUpload

/// The times of a program's uploads, by a clock that the test advances.
@Suite(.tags(.medium)) final class UploadTimesTests: Sendable {
  private let home: TestHome
  private let session: LogSession
  private let consent = Mutex(Consent.logs)
  private let pauses = Mutex<[Duration]>([])
  private let memory = MemoryStore()

  init() throws {
    home = try TestHome()
    var configuration = LoggingConfiguration(app: "kiosk")
    configuration.console = .off
    configuration.catchesSignals = false
    session = LogSession.begin(configuration, in: home.home, on: home.clock.machine, [:])
  }

  /// Uploads to a store.
  ///
  /// Pauses are recorded; short ones end at once, a long one when a PUT hangs.
  private func uploads(
    to store: any ObjectStore, hanging: HangingStore? = nil
  ) throws -> LogUploads {
    try LogUploads(
      of: session, to: "s3://bucket", options: .init(), on: home.clock.machine,
      opening: { _, _, _ in store },
      pausing: { [self] duration in
        pauses.withLock { $0.append(duration) }
        guard duration >= .seconds(1) else { return }
        if let hanging { return await hanging.isReached() }
        await untilCancelled()
      },
      consent: { [self] in consent.withLock { $0 } })
  }

  /// Advances the clock, one second at a time; returns the outcomes of uploads that began
  /// meanwhile.
  private func second(
    _ uploads: LogUploads, _ count: Int64 = 1
  ) async throws -> [LogUploads.Outcome] {
    var outcomes: [LogUploads.Outcome] = []
    for _ in 0..<count {
      home.clock.advance(seconds: 1)
      if let upload = uploads.tick() { outcomes.append(try await upload.value) }
    }
    return outcomes
  }

  @Test func `a session is uploaded at the start and once a minute while it grows`() async throws {
    let store = FaultyStore(memory)
    let uploads = try uploads(to: store)
    uploads.start(ticking: nil)
    _ = try await uploads.underWay?.value
    #expect(uploads.lastOutcome.map { $0.sent > 0 } == true)
    session.info("one")
    #expect(try await second(uploads, 59).isEmpty)
    #expect(try await second(uploads).map { $0.sent > 0 } == [true])
    // Nothing new: no upload begins, and a requested one sends no request.
    #expect(try await second(uploads, 300).isEmpty)
    _ = store.takeRequests()
    #expect(try await uploads.upload().sent == 0)
    #expect(store.takeRequests() == [])
    session.info("two")
    #expect(try await second(uploads).map { $0.sent > 0 } == [true])
    // An ERROR after a quiet time is uploaded at once; the next one waits.
    session.error("three")
    #expect(try await second(uploads).map { $0.sent > 0 } == [true])
    session.error("four")
    #expect(try await second(uploads).isEmpty)
    uploads.stop()
    session.error("five")
    #expect(try await second(uploads, 200).isEmpty)
  }

  @Test func `resuming uploads at once, or right after a running upload`() async throws {
    let store = HangingStore(memory)
    let uploads = try uploads(to: store)
    uploads.start(ticking: nil)
    let first = try #require(uploads.underWay)
    await store.isReached()
    // The running upload has read the log already.
    session.info("too late for the first")
    uploads.resume()
    uploads.resume()
    store.release()
    _ = try await first.value
    _ = try await uploads.underWay?.value
    #expect(try await uploads.upload().sent == 0)
    let log = try home.log(#require(session.id))
    #expect(log.count > 0 && uploads.underWay == nil)
    session.info("after a pause")
    uploads.resume()
    _ = try await uploads.underWay?.value
    #expect(
      try uploads.lastOutcome?.sent
        == ByteCount(home.log(#require(session.id)).count - log.count))
    uploads.stop()
  }

  @Test func `a failed upload is repeated after the interval`() async throws {
    let store = FaultyStore(memory)
    let uploads = try uploads(to: store)
    uploads.start(ticking: nil)
    _ = try await uploads.underWay?.value
    store.plan(.failBefore(.transient), on: "PUT")
    session.info("one")
    let failed = try await second(uploads, 60)
    #expect(failed.count == 1 && failed.first?.problems.isEmpty == false)
    // The session no longer grows.
    let next = try await second(uploads, 1200)
    #expect(next.last.map { $0.sent > 0 && $0.problems.isEmpty } == true, "\(next)")
    #expect(try await second(uploads, 120).isEmpty)
    uploads.stop()
  }

  @Test func `the closure is asked for consent before each upload`() async throws {
    consent.withLock { $0 = .none }
    let store = FaultyStore(memory)
    let uploads = try uploads(to: store)
    uploads.start(ticking: nil)
    _ = try await uploads.underWay?.value
    session.info("one")
    #expect(try await second(uploads, 60).map(\.skipped) == [.consent])
    #expect(store.takeRequests() == [])
    // Consent given while nothing new is logged.
    consent.withLock { $0 = .logs }
    #expect(try await second(uploads, 60).map { $0.sent > 0 } == [true])
    consent.withLock { $0 = .none }
    session.error("two")
    _ = store.takeRequests()
    #expect(try await second(uploads, 60).allSatisfy { $0.skipped == .consent })
    await uploads.finish()
    #expect(store.takeRequests() == [] && uploads.lastOutcome?.skipped == .consent)
  }

  @Test func `the end waits ten seconds for a store that hangs`() async throws {
    let store = HangingStore(memory)
    let uploads = try uploads(to: store, hanging: store)
    session.info("one")
    // Returns although the PUT never does.
    await uploads.finish()
    #expect(session.hasEnded && pauses.withLock { $0 } == [.seconds(10)])
    store.release()
    // The next start sends the rest, once the last upload has noticed that it was cancelled.
    let next = try self.uploads(to: memory)
    var outcome: LogUploads.Outcome
    repeat { outcome = try await next.upload() } while outcome.skipped == .busy
    #expect(outcome.problems.isEmpty)
    #expect(memory.keys.contains { $0.contains(".terminated.") })
  }

  /// Another process is uploading the home at the end: wait for it, for as long as `patience`
  /// allows.
  @Test func `the end waits for another upload of the home`() async throws {
    let uploads = try uploads(to: memory)
    let lock = try #require(try HomeLock.acquire(home.home))
    #expect(try await uploads.pass(nil, waiting: .seconds(10)).skipped == .busy)
    #expect(pauses.withLock { $0 }.total == .seconds(10))
    withExtendedLifetime(lock) {}
  }

  @Test func `the library signs its seals as cron does`() async throws {
    let uploads = try uploads(to: memory)
    await uploads.finish()
    let seal = try #require(memory.keys.first { $0.contains(".terminated.") })
    let json = String(decoding: try #require(memory[seal]), as: UTF8.self)
    #expect(json.contains("\"signature\""))
  }
}

extension [Duration] {
  fileprivate var total: Duration { reduce(.zero, +) }
}
