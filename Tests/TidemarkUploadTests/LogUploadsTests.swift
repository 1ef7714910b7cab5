import Foundation
import LogRecords
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog
import Synchronization
import TestSupport
import Testing
import TidemarkLogging

@testable import TidemarkUpload

/// Uploads from within a program.
@Suite(.tags(.medium)) struct LogUploadsTests {
  private final class Choice: Sendable {
    let consent: Mutex<Consent>
    init(_ consent: Consent) { self.consent = Mutex(consent) }
    func get() -> Consent { consent.withLock { $0 } }
    func set(_ value: Consent) { consent.withLock { $0 = value } }
  }

  private let home: TestHome
  private let session: LogSession

  init() throws {
    home = try TestHome()
    try DirectoryStore.prepared(at: "\(home.folder)/store")
    var configuration = LoggingConfiguration(app: "kiosk")
    configuration.console = .off
    configuration.catchesSignals = false
    session = LogSession.begin(configuration, in: home.home, on: home.clock.machine, [:])
  }

  private func uploads(_ choice: Choice) throws -> LogUploads {
    try LogUploads(
      of: session, to: "file://\(home.folder)/store", options: .init(), on: home.clock.machine,
      pausing: { _ in await untilCancelled() }, consent: choice.get)
  }

  private func isInStore(_ id: SessionID?) -> Bool {
    let files = FileManager.default.enumerator(atPath: "\(home.folder)/store")?.allObjects ?? []
    return files.contains { "\($0)".contains(id?.description ?? "none") }
  }

  @Test func `nothing is sent without consent, which may change at any time`() async throws {
    let choice = Choice(.none)
    let uploads = try uploads(choice)
    session.info("one")
    #expect(try await uploads.upload().skipped == .consent)
    #expect(!isInStore(session.id))
    choice.set(.logs)
    let sent = try await uploads.upload()
    #expect(sent.sent > 0 && sent.problems.isEmpty && isInStore(session.id))
    choice.set(.none)
    session.info("two")
    #expect(try await uploads.upload().skipped == .consent)
    #expect(uploads.lastOutcome?.skipped == .consent)
  }

  @Test func `a single session is sent on its user's request`() async throws {
    let uploads = try uploads(Choice(.none))
    session.info("one")
    let other = try home.session(Array("other\n".utf8))
    let id = try #require(session.id)
    let outcome = try await uploads.uploadOnce(id)
    #expect(outcome.sent > 0 && isInStore(id) && !isInStore(other), "\(outcome)")
    // Later records are not sent: the request covered only the existing ones.
    session.info("two")
    #expect(try await uploads.upload().skipped == .consent)
    let ended = try await uploads.uploadOnce(other)
    #expect(ended.sent > 0 && ended.sealed == 1 && isInStore(other), "\(ended)")
    #expect(try await uploads.uploadOnce(other).sent == 0)
  }

  @Test func `an upload explains itself to the logger of the program`() async throws {
    let other = try TestHome()
    var configuration = LoggingConfiguration(app: "diagnostics")
    configuration.console = .off
    configuration.catchesSignals = false
    let log = LogSession.begin(configuration, in: other.home, on: other.clock.machine, [:])
    var options = LogUploads.Options()
    options.logger = Logger(label: "Upload") { TidemarkLogHandler(label: $0, session: log) }
    let uploads = try LogUploads(
      of: session, to: "file://\(home.folder)/store", options: options, on: home.clock.machine,
      pausing: { _ in await untilCancelled() }, consent: Choice(.logs).get)
    session.info("one")
    #expect(try await uploads.upload().sent > 0)
    let id = try #require(log.id)
    let text = String(decoding: try other.log(id), as: UTF8.self)
    #expect(text.contains("[Upload] plan: 1 session to send"), "\(text)")
  }

  @Test func `on a disk without room for the device's key, a pass sends and makes room`()
    async throws
  {
    let old = try home.session(Array("x\n".utf8))
    let uploads = try uploads(Choice(.logs))
    #expect(try await uploads.upload().sealed == 1)
    home.clock.advance(seconds: 8 * 86_400)
    session.info("one")
    try FileManager.default.removeItem(atPath: home.home.keyPath)
    let files = TestFiles { [home] effect in
      if case .write = effect.kind, effect.path.hasPrefix(home.home.keyPath) { ENOSPC } else { nil }
    }
    try await FileEffect.$hook.withValue(files) {
      for _ in 0..<2 {
        let outcome = try await uploads.upload()
        #expect(outcome.problems.isEmpty && outcome.waiting == 0, "\(outcome)")
      }
    }
    #expect(!File.exists(home.home.keyPath) && isInStore(session.id))
    #expect(!File.exists(home.home.files(for: old).log))
  }

  /// A key that is made later would say that nothing ever was.
  @Test func `nothing is sent unsigned by a device that has sent nothing`() async throws {
    let uploads = try uploads(Choice(.logs))
    session.info("one")
    try File.remove(home.home.keyPath)
    let files = TestFiles { [home] effect in
      if case .write = effect.kind, effect.path.hasPrefix(home.home.keyPath) { ENOSPC } else { nil }
    }
    await FileEffect.$hook.withValue(files) {
      _ = await #expect(throws: SystemError.self) { try await uploads.upload() }
    }
    #expect(!isInStore(session.id))
    await uploads.finish()
    #expect(uploads.lastOutcome?.problems == [] && uploads.lastOutcome?.sealed == 1)
    #expect(File.exists(home.home.keyPath))
  }

  @Test func `the end of a session is sent and sealed`() async throws {
    let uploads = try uploads(Choice(.logs))
    session.info("one")
    await uploads.finish()
    #expect(uploads.lastOutcome?.sealed == 1 && session.hasEnded)
  }

  @Test func `an upload does nothing while another is running`() async throws {
    let uploads = try uploads(Choice(.logs))
    let lock = try #require(try HomeLock.acquire(home.home))
    #expect(try await uploads.upload().skipped == .busy)
    withExtendedLifetime(lock) {}
  }

  @Test func `an unsupported store URL is refused`() throws {
    #expect(throws: (any Error).self) {
      _ = try LogUploads(of: session, to: "ftp://x", consent: { .logs })
    }
  }
}
