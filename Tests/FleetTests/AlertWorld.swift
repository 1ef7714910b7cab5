import Fleet
import Platform
import TestServers
import TestSupport
import Testing

/// A store, an operator's state, and passes.
final class AlertWorld {
  let folder: TemporaryDirectory
  let clock: TestClock
  let store: TimedStore
  let sender = RecordingSender()
  var rules: [AlertRule]
  /// Maximum number of sessions that passes remember.
  var sessionLimit: Int?
  /// The room in the state file.
  var room = AlertState.Room()

  init(
    _ rules: [AlertRule] = [AlertRule(name: "crashed", .crash(includesFailures: false))],
    offset: Duration = .zero
  ) throws {
    self.rules = rules
    folder = try TemporaryDirectory()
    clock = TestClock()
    store = TimedStore(clock, offset: offset)
  }

  var path: String { folder.path + "/alerts.json" }

  func device(_ id: String) throws -> SimulatedDevice { try SimulatedDevice(id, store) }

  @discardableResult
  func pass(
    _ sender: (any AlertSender)? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> AlertPass.Report {
    let clock = clock
    var pass = AlertPass(rules, state: path) { clock.now() }
    pass.sessionLimit = sessionLimit
    pass.room = room
    let lock = try #require(try pass.lock(), sourceLocation: sourceLocation)
    let problems = Guarded<[String]>([])
    return try await pass.run(store, sender ?? self.sender, holding: lock) { line in
      problems.withLock { $0.append(line) }
    }
  }

  func minutes(_ count: Int64) { clock.advance(seconds: 60 * count) }
}
