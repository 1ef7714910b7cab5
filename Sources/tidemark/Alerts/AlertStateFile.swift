import Fleet
import Platform

/// Changes the alerts' state file at a person's request.
struct AlertStateFile {
  private let path: String

  init(_ path: String) { self.path = path }

  /// The longest wait for a running pass, and the time between two attempts.
  private static let patience = (
    longest: Duration.seconds(60), interval: Duration.milliseconds(100)
  )

  /// Changes it while no pass is running.
  ///
  /// - Throws: ``Failure`` if a running pass does not end; ``Platform/SystemError``.
  func change(_ body: (inout AlertState) -> Void) async throws {
    let pass = AlertPass([], state: path) { .now() }
    var waited = Duration.zero
    while true {
      if let lock = try pass.lock() {
        defer { withExtendedLifetime(lock) {} }
        var state = try AlertState.load(path, report: Console.complain)
        body(&state)
        return try state.save(path)
      }
      guard waited < Self.patience.longest else {
        throw Failure(.tryLater, "another 'tidemark alert' is running; try again when it has ended")
      }
      try await Task.sleep(for: Self.patience.interval)
      waited += Self.patience.interval
    }
  }
}
