public import Logging
import SessionLog

extension LogSession {
  /// A swift-log logger whose records belong to a scenario: they are written only while it is on.
  ///
  /// ```swift
  /// let logger = session.logger("Network", scenario: .checkout)
  /// logger.debug("basket: \(basket)")
  /// ```
  ///
  /// While the scenario is off, the logger's level is `critical`, so that no message below that is
  /// evaluated; a critical one is evaluated but not written. Records not written are counted while
  /// the logger's own level is `trace`, the default.
  ///
  /// - Parameters:
  ///   - label: the category of the records.
  ///   - scenario: their scenario; declared by this call.
  public func logger(_ label: String, scenario: Scenario) -> Logger {
    let handler = ScenarioLogHandler(
      TidemarkLogHandler(
        label: label, session: self, level: .trace,
        metadataProvider: LoggingSystem.metadataProvider),
      gate: scenario.gate(in: self))
    return Logger(label: label) { _ in handler }
  }
}

/// A handler that writes only while a scenario is on.
private struct ScenarioLogHandler: LogHandler {
  private var handler: TidemarkLogHandler
  /// Nil without a session or a valid name of the scenario: then nothing is written.
  private let gate: ScenarioGate?

  init(_ handler: TidemarkLogHandler, gate: ScenarioGate?) {
    (self.handler, self.gate) = (handler, gate)
  }

  /// The handler's own level while the scenario is on.
  ///
  /// swift-log reads it before each record: a record that is off costs no more than this.
  var logLevel: Logger.Level {
    get {
      guard let gate else { return .critical }
      let own = handler.logLevel
      // Records below a raised level are omitted because of the level, not of the scenario.
      return (own == .trace ? gate.admits() : gate.isOpen) ? own : .critical
    }
    set { handler.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { handler.metadataProvider }
    set { handler.metadataProvider = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    guard let gate, gate.isOpen else { return }
    handler.log(event, scenario: gate.word)
  }
}
