import Fleet
import Platform

/// The file that alerts remember in, for a change by a person.
struct AlertStateFile {
  private let path: String

  init(_ path: String) { self.path = path }

  /// The longest wait for a pass that is running, and the time between two looks.
  private static let patience = (
    longest: Duration.seconds(60), interval: Duration.milliseconds(100)
  )

  /// Changes it while no pass is running.
  ///
  /// - Throws: ``Failure`` where one does not end, ``Platform/SystemError``.
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
