import ObjectStore
import Platform
import Replica
public import SessionLog
public import TidemarkLogging

/// Uploads a program's sessions from within the program, for machines without a cron job.
///
/// ```swift
/// let session = Tidemark.start("Kiosk")
/// let uploads = try LogUploads(of: session, to: "https://logs.example/kiosk") { settings.consent }
/// uploads.start()
/// // …
/// await uploads.finish()
/// ```
///
/// Nothing leaves without consent, which is asked for before each upload. A cron job, or another
/// program, may upload the same home: an upload that finds another one running does nothing.
public final class LogUploads: Sendable {
  let session: LogSession
  let home: Home
  let store: StoreURL
  let options: Options
  let consent: @Sendable () -> Consent
  let machine: Machine
  let opening: Opening
  let pausing: Pausing
  let work = Guarded(Work())

  /// Opens a store with its settings and credentials.
  typealias Opening =
    @Sendable (StoreURL, StoreSettings, [String: String]) throws -> any ObjectStore
  /// Waits.
  typealias Pausing = @Sendable (Duration) async throws -> Void

  struct Work {
    var schedule: UploadSchedule?
    var ticker: Ticker?
    var running: Task<Outcome, any Error>?
    /// Another upload was asked for while one was under way that may not have seen the newest records.
    var isAskedAgain = false
    var last: Outcome?
  }

  /// Describes the uploads of a session's home; nothing is contacted yet.
  ///
  /// - Parameters:
  ///   - session: the program's session.
  ///   - store: `s3://bucket/prefix`, `https://host/folder` or `file:///folder`; the latter is made
  ///     ready by `tidemark init`.
  ///   - options: how.
  ///   - consent: what may leave at this moment; nothing unless it says so.
  /// - Throws: an error that describes itself where the URL is none, or the session is not recorded.
  public convenience init(
    of session: LogSession, to store: String, options: Options = Options(),
    consent: @escaping @Sendable () -> Consent = { .none }
  ) throws {
    try self.init(of: session, to: store, options: options, on: .current, consent: consent)
  }

  init(
    of session: LogSession, to store: String, options: Options, on machine: Machine,
    opening: @escaping Opening = { try openStore($0, settings: $1, environment: $2) },
    pausing: @escaping Pausing = { try await Task.sleep(for: $0) },
    consent: @escaping @Sendable () -> Consent
  ) throws {
    guard let home = session.home else {
      throw LogSession.NotRecorded(session.problem, "upload")
    }
    self.session = session
    self.home = home.compressing(with: SegmentCompression())
    self.store = try StoreURL(store, allowsPlaintext: options.allowsPlaintext)
    (self.options, self.consent, self.machine) = (options, consent, machine)
    (self.opening, self.pausing) = (opening, pausing)
  }

  /// The result of the last upload; nil before the first.
  public var lastOutcome: Outcome? { work.withLock { $0.last } }

  // MARK: While the program runs

  /// Begins to upload: now, what earlier starts have left, then at the interval.
  public func start() { start(ticking: .seconds(1)) }

  /// - Parameter interval: time between two calls of ``tick()``; nil leaves them to the caller.
  func start(ticking interval: Duration?) {
    work.withLock { work in
      guard work.schedule == nil else { return }
      work.schedule = UploadSchedule(
        interval: options.interval, now: .milliseconds(machine.uptime()))
      work.ticker = interval.map { Ticker(every: $0) { [weak self] in self?.tick() } }
    }
    begin()
  }

  /// The program is back in the foreground, or the network is there again: uploads at once.
  public func resume() { begin() }

  /// Called about once a second; returns the upload that it began, which may have ended already.
  @discardableResult
  func tick() -> Task<Outcome, any Error>? {
    let activity = session.takeActivity()
    let now = Duration.milliseconds(machine.uptime())
    let begins = work.withLock { work in
      work.schedule?.begins(activity, now: now, isBusy: work.running != nil) ?? false
    }
    return begins ? begin() : nil
  }

  /// The upload that is under way; nil without one.
  var underWay: Task<Outcome, any Error>? { work.withLock { $0.running } }

  /// Starts an upload and returns it; where one is under way, another one follows it.
  @discardableResult
  private func begin() -> Task<Outcome, any Error>? {
    work.withLock { work -> Task<Outcome, any Error>? in
      guard work.running == nil else {
        work.isAskedAgain = true
        return nil
      }
      let task = Task.detached(priority: .utility) { [self] in
        defer { goOn() }
        return try await upload()
      }
      work.running = task
      return task
    }
  }

  /// Ends an upload, and begins another one if it was asked for.
  private func goOn() {
    let isNextDue = work.withLock { work in
      work.running = nil
      defer { work.isAskedAgain = false }
      return work.isAskedAgain && work.schedule != nil
    }
    if isNextDue { begin() }
  }

  /// Uploads what is new and waits for it.
  ///
  /// - Returns: what was sent, and what was not.
  /// - Throws: `CancellationError`; an error that describes itself where the home cannot be read.
  @discardableResult
  public func upload() async throws -> Outcome { try await pass(nil) }

  /// Uploads one session because its user asks for it now, whatever consent says otherwise.
  ///
  /// - Parameter id: which.
  /// - Returns: what was sent, and what was not.
  /// - Throws: as ``upload()`` does.
  @discardableResult
  public func uploadOnce(_ id: SessionID) async throws -> Outcome { try await pass(id) }

  /// Ends the session and uploads what is left, for ``Options/patience`` at the most.
  ///
  /// - Parameter cause: how the program ends.
  public func finish(_ cause: ExitCause = .exit(0)) async {
    let start = machine.uptime()
    stop()
    session.end(cause)
    let limit = max(.zero, options.patience - .milliseconds(machine.uptime() - start))
    let last = Task.detached { [self] in try await pass(nil, waiting: limit) }
    let alarm = Task.detached { [pausing] in
      try await pausing(limit)
      last.cancel()
    }
    // A network drive that hangs does not hear of a cancellation: it is not waited for either.
    await withCheckedContinuation { continuation in
      let waiting = Guarded<CheckedContinuation<Void, Never>?>(continuation)
      @Sendable func goOn() {
        waiting.withLock { waiting in
          waiting?.resume()
          waiting = nil
        }
      }
      Task.detached {
        _ = await last.result
        goOn()
      }
      Task.detached {
        _ = await alarm.result
        goOn()
      }
    }
    alarm.cancel()
  }

  /// Uploads no more by itself.
  public func stop() {
    let running = work.withLock { work in
      work.ticker?.stop()
      (work.ticker, work.schedule) = (nil, nil)
      return work.running
    }
    running?.cancel()
  }
}
