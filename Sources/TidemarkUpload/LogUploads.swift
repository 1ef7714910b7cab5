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
/// Nothing is sent without consent, which is queried before each upload. A cron job, or another
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
    /// Whether an upload was requested during another one, which may have missed the newest
    /// records.
    var isRequestedAgain = false
    var last: Outcome?
  }

  /// Describes the uploads of a session's home; sends no request yet.
  ///
  /// - Parameters:
  ///   - session: the program's session.
  ///   - store: `s3://bucket/prefix`, `https://host/folder` or `file:///folder`; `tidemark init`
  ///     prepares the latter.
  ///   - options: how to upload.
  ///   - consent: returns what may be sent at the moment; by default nothing.
  /// - Throws: an error with a description if the URL is invalid, or the session is not recorded.
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

  /// Starts uploading: at once what earlier runs left unsent, then at the interval.
  public func start() { start(ticking: .seconds(1)) }

  /// - Parameter interval: time between two calls of ``tick()``; nil leaves them to the caller.
  func start(ticking interval: Duration?) {
    work.withLock { work in
      guard work.schedule == nil else { return }
      work.schedule = UploadSchedule(
        interval: options.interval, now: machine.uptime())
      work.ticker = interval.map { Ticker(every: $0) { [weak self] in self?.tick() } }
    }
    begin()
  }

  /// Uploads at once; call it when the program returns to the foreground, or the network is back.
  public func resume() { begin() }

  /// Begins an upload if due, and returns it; it may have ended already.
  ///
  /// Called about once a second.
  @discardableResult
  func tick() -> Task<Outcome, any Error>? {
    let activity = session.takeActivity()
    let now = machine.uptime()
    let begins = work.withLock { work in
      work.schedule?.begins(activity, now: now, isBusy: work.running != nil) ?? false
    }
    return begins ? begin() : nil
  }

  /// The running upload; nil without one.
  var underWay: Task<Outcome, any Error>? { work.withLock { $0.running } }

  /// Starts an upload and returns it; if one is running, another one follows it.
  @discardableResult
  private func begin() -> Task<Outcome, any Error>? {
    work.withLock { work -> Task<Outcome, any Error>? in
      guard work.running == nil else {
        work.isRequestedAgain = true
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

  /// Records the end of an upload, and begins another one if it was requested.
  private func goOn() {
    let isNextDue = work.withLock { work in
      work.running = nil
      defer { work.isRequestedAgain = false }
      return work.isRequestedAgain && work.schedule != nil
    }
    if isNextDue { begin() }
  }

  /// Uploads the home's sessions and waits for the end.
  ///
  /// - Returns: the result.
  /// - Throws: `CancellationError`; an error with a description if the home cannot be read.
  @discardableResult
  public func upload() async throws -> Outcome { try await pass(nil) }

  /// Uploads one session at its user's request, which counts as consent.
  ///
  /// - Parameter id: the session.
  /// - Returns: the result.
  /// - Throws: as ``upload()`` does.
  @discardableResult
  public func uploadOnce(_ id: SessionID) async throws -> Outcome { try await pass(id) }

  /// Ends the session and uploads the rest, for at most ``Options/patience``.
  ///
  /// - Parameter cause: how the program ends.
  public func finish(_ cause: ExitCause = .exit(0)) async {
    let start = machine.uptime()
    stop()
    session.end(cause)
    let limit = max(.zero, options.patience - machine.uptime() + start)
    let last = Task.detached { [self] in try await pass(nil, waiting: limit) }
    let alarm = Task.detached { [pausing] in
      try await pausing(limit)
      last.cancel()
    }
    // A hanging network drive does not react to cancellation: do not wait for it either.
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

  /// Stops uploading at intervals.
  public func stop() {
    let running = work.withLock { work in
      work.ticker?.stop()
      (work.ticker, work.schedule) = (nil, nil)
      return work.running
    }
    running?.cancel()
  }
}
