import LogRecords
import Logging
import Platform
import SessionLog
import TestSupport
import Testing

@testable import TidemarkLogging

/// A swift-log logger whose records belong to a scenario.
@Suite(.tags(.medium)) struct ScenarioLoggerTests {
  private let home: LoggingHome
  private let session: LogSession
  private let counter = Guarded(0)

  init() throws {
    home = try LoggingHome()
    session = try home.session()
  }

  /// Counts how often a message is evaluated.
  private func message() -> Logger.Message {
    counter.withLock { $0 += 1 }
    return "m"
  }

  private var evaluations: Int { counter.withLock { $0 } }

  private func enable() throws {
    try home.home.enable("Sync")
    home.home.clock.advance(seconds: 1)
    session.writer?.tick()
  }

  @Test func `a logger of a disabled scenario evaluates and writes nothing, and counts it`() throws
  {
    let logger = session.logger("Net", scenario: Scenario("Sync"))
    for _ in 0..<3 { logger.trace(message()) }
    logger.error(message())
    #expect(evaluations == 0 && logger.logLevel == .critical)
    logger.critical(message())
    #expect(try !home.text(session).contains("[Net]"))
    session.end()
    // Reading the logger's level counts, too.
    #expect(try home.text(session).contains("SCENARIO Sync off: 6 records not written\n"))
  }

  @Test func `a logger of an enabled scenario writes its records with the scenario's name`() throws
  {
    var logger = session.logger("Net", scenario: Scenario("Sync"))
    try enable()
    logger.trace(message())
    logger[metadataKey: "id"] = "1"
    logger.critical("lost", metadata: ["at": "2"])
    logger.logLevel = .info
    logger.debug(message())
    logger.info("shown")
    let text = try home.text(session)
    #expect(text.contains("[TRACE] [Net] {Sync} m\n"))
    #expect(text.contains("[FAULT] [Net] {Sync} lost at=2 id=1\n"))
    #expect(text.contains("[INFO] [Net] {Sync} shown id=1\n") && evaluations == 1)
  }

  @Test func `records below a logger's own level are not counted as left out`() throws {
    var logger = session.logger("Net", scenario: Scenario("Sync"))
    logger.logLevel = .warning
    for _ in 0..<3 { logger.info(message()) }
    session.end()
    #expect(evaluations == 0)
    #expect(try !home.text(session).contains("records not written"))
  }

  @Test func `a copied logger of a scenario has its own level and metadata`() throws {
    try enable()
    let logger = session.logger("Net", scenario: Scenario("Sync"))
    var other = logger
    other.logLevel = .error
    other[metadataKey: "only-on"] = "second"
    #expect(logger.logLevel == .trace && other.logLevel == .error)
    #expect(logger[metadataKey: "only-on"] == nil && other[metadataKey: "only-on"] == "second")
  }

  @Test func `a logger of an impossible scenario writes nothing`() throws {
    let before = try home.text(session)
    let logger = session.logger("Net", scenario: Scenario("no{name"))
    logger.error(message())
    logger.critical("x")
    #expect(try home.text(session) == before && evaluations == 0)
  }
}
