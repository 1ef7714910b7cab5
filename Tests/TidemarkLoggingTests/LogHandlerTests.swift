import LogRecords
import Logging
import Platform
import SessionLog
import TestSupport
import Testing

@testable import TidemarkLogging

/// Swift-log's requirements of a handler, and the records that it writes.
@Suite(.tags(.medium)) struct LogHandlerTests {
  private let home: LoggingHome
  private let session: LogSession

  init() throws {
    home = try LoggingHome()
    session = try home.session()
  }

  private func logger(_ label: String, level: Logger.Level = .trace) -> Logger {
    Logger(label: label) { TidemarkLogHandler(label: $0, session: session, level: level) }
  }

  /// The records after the session's first, without their times.
  private func lines() throws -> [String] {
    try home.text(session).split(separator: "\n").dropFirst().map { String($0.dropFirst(25)) }
  }

  /// From swift-log's documentation of `LogHandler`.
  @Test func `a copied logger has its own level and metadata`() {
    var logger1 = logger("first logger")
    logger1.logLevel = .debug
    logger1[metadataKey: "only-on"] = "first"
    var logger2 = logger1
    logger2.logLevel = .error
    logger2[metadataKey: "only-on"] = "second"
    #expect(logger1.logLevel == .debug)
    #expect(logger2.logLevel == .error)
    #expect(logger1[metadataKey: "only-on"] == "first")
    #expect(logger2[metadataKey: "only-on"] == "second")
  }

  @Test func `every level is recorded under its name`() throws {
    let logger = logger("Net")
    for level in Logger.Level.allCases { logger.log(level: level, "\(level)") }
    session.success("done")
    session.fault("never")
    #expect(
      try lines() == [
        "[TRACE] [Net] trace", "[DEBUG] [Net] debug", "[INFO] [Net] info", "[INFO] [Net] notice",
        "[WARNING] [Net] warning", "[ERROR] [Net] error", "[FAULT] [Net] critical",
        "[SUCCESS] [App] done", "[FAULT] [App] never",
      ])
  }

  @Test func `messages below the level are neither written nor evaluated`() throws {
    let session = try home.session(level: .info)
    var count = 0
    func message() -> String {
      count += 1
      return "x"
    }
    session.debug(message())
    Logger(label: "a") { TidemarkLogHandler(label: $0, session: session, level: .warning) }
      .info("\(message())")
    #expect(count == 0)
    session.info(message())
    #expect(try home.text(session).hasSuffix("[INFO] [App] x\n") && count == 1)
  }

  @Test func `metadata follows the message, sorted by key`() throws {
    var logger = logger("Net")
    logger[metadataKey: "z"] = "last"
    logger[metadataKey: "a"] = "two words"
    logger.info("base")
    logger.info(
      "own", metadata: ["z": "1", "list": ["x", "y z"], "map": ["k": "v"], "q": "say \"hi\"\n"])
    var provided = logger
    provided.handler.metadataProvider = .init { ["p": "provided", "a": "provider"] }
    provided.info("with", metadata: ["p": "own"])
    #expect(
      try lines() == [
        #"[INFO] [Net] base a="two words" z=last"#,
        #"[INFO] [Net] own a="two words" list=[x, "y z"] map={k=v} q="say \"hi\"\n" z=1"#,
        "[INFO] [Net] with a=provider p=own z=last",
      ])
  }

  private struct Refusal: Error, CustomStringConvertible { let description = "no such file" }

  @Test func `an error is recorded as metadata`() throws {
    logger("Net").error("cannot open", error: Refusal())
    let line = try #require(lines().last)
    #expect(line.hasPrefix(#"[ERROR] [Net] cannot open error.message="no such file" error.type="#))
  }

  /// A description that itself writes a record, which must not deadlock.
  private struct Chatty: CustomStringConvertible, Sendable {
    let logger: Logger
    var description: String {
      logger.info("inner")
      return "outer"
    }
  }

  @Test func `a metadata value may log while it is described`() throws {
    let logger = logger("Net")
    logger.info("x", metadata: ["v": .stringConvertible(Chatty(logger: logger))])
    #expect(try lines() == ["[INFO] [Net] inner", "[INFO] [Net] x v=outer"])
  }

  @Test func `labels and messages cannot forge records`() throws {
    logger("Session").info("SESSION END exit 0")
    logger("a]b\n[c").info("{\"json\": 1}\nsecond")
    let text = try home.text(session)
    #expect(text.contains("[INFO] [Session_] SESSION END exit 0\n"))
    #expect(text.contains("[INFO] [a_b__c]  {\"json\": 1}\n  second\n"))
  }
}
