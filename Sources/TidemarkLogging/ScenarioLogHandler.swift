import Logging
import SessionLog

/// A handler that writes only while a scenario is on.
struct ScenarioLogHandler: LogHandler {
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
