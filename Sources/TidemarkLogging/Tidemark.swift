import Foundation
import LogRecords
import Logging
import Platform
import SessionLog

/// Records this program's session.
///
/// ```swift
/// Tidemark.start("Kiosk")
/// let logger = Logger(label: "Checkout")
/// logger.info("ready")
/// ```
public enum Tidemark {
  private struct State {
    var session: LogSession?
    var previous: PreviousSession??
    var app = ""
    var home: Home?
  }

  private static let state = Guarded(State())

  /// The session of this program; nil before ``start(_:)``.
  public static var session: LogSession? { state.withLock { $0.session } }

  /// How the program's last session ended; nil if there was none.
  ///
  /// Searched for once, by reading a few sidecars of the home. If it was killed and may have lost
  /// captured output, this writes a GAP record into it.
  public static var previousSession: PreviousSession? {
    state.withLock { state in
      if let known = state.previous { return known }
      guard let home = state.home else { return nil }
      let found = PreviousSession.find(
        app: state.app, before: state.session?.id, in: home, on: .current)
      state.previous = .some(found)
      return found
    }
  }

  /// Starts the session, and has swift-log's loggers write into it.
  ///
  /// Call it once, at the program's start. It never fails the program: see ``LogSession/problem``.
  ///
  /// - Parameters:
  ///   - app: the program's name in lists.
  ///   - version: its version.
  /// - Returns: the session.
  @discardableResult
  public static func start(_ app: String, version: String? = nil) -> LogSession {
    start(LoggingConfiguration(app: app, version: version))
  }

  /// Starts the session as configured, and has swift-log's loggers write into it.
  ///
  /// Call it at the program's start. If a session is running already, that one is returned. After
  /// its end, another one may be started, for loggers made from then on.
  @discardableResult
  public static func start(_ configuration: LoggingConfiguration) -> LogSession {
    if let session, !session.hasEnded { return session }
    let session = begin(configuration)
    let level = configuration.logLevel
    // Bootstrap once: a second call would end the process.
    let isFirst = isBootstrapped.withLock { known in
      defer { known = true }
      return !known
    }
    guard isFirst else { return session }
    LoggingSystem.bootstrap(
      {
        TidemarkLogHandler(
          label: $0, session: Tidemark.session ?? session, level: level, metadataProvider: $1)
      }, metadataProvider: nil)
    return session
  }

  private static let isBootstrapped = Guarded(false)

  /// Starts the session as configured, for programs that bootstrap swift-log themselves; see
  /// ``TidemarkLogHandler``.
  public static func begin(_ configuration: LoggingConfiguration) -> LogSession {
    let environment = ProcessInfo.processInfo.environment
    let home =
      configuration.home.map { Home(path: $0) } ?? Home.locate(environment: environment)
    let session = LogSession.begin(configuration, in: home, on: .current, environment)
    state.withLock {
      $0 = State(session: session, app: configuration.app, home: home)
    }
    return session
  }
}
