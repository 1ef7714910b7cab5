package import Platform
package import SessionLog

/// Reports crashes to a home's command, one at a time, for a limited time; the next upload
/// continues.
///
/// A crash is recorded as reported when the command has ended: if the process is killed in between,
/// only that crash is reported again.
package struct CrashReporter {
  private let path: String
  private let machine: Machine

  /// No further crash is reported after this time.
  package static let limit = Duration.seconds(60)

  /// Describes the reports of a home.
  ///
  /// - Parameters:
  ///   - path: the file that records the reported crashes.
  ///   - machine: the machine, for its clocks.
  package init(_ path: String, _ machine: Machine) { (self.path, self.machine) = (path, machine) }

  /// Reports crashes that were not reported yet.
  ///
  /// - Parameters:
  ///   - crashed: sessions that have crashed.
  ///   - run: runs the command for a crash.
  /// - Returns: the number of crashes left to the next upload.
  /// - Throws: ``Platform/SystemError``, `EncodingError`; errors of `run`.
  package func report(
    _ crashed: [Sidecar], run: (Sidecar) async throws -> Void
  ) async throws -> Int {
    let known = try HookState.load(path)
    // Saved even without a crash: from then on every crash is news.
    guard !crashed.isEmpty || known?.waiting != nil || known == nil else { return 0 }
    let due: [Sidecar]
    var state: HookState
    (due, state) = HookState.due(crashed, known, at: machine.now())
    state.keepWaiting(due)
    if state != known { try state.save(path) }
    let start = machine.uptime()
    var told = 0
    for sidecar in due {
      guard machine.uptime() - start < Self.limit else { break }
      try await run(sidecar)
      state.markTold(sidecar, at: machine.now())
      try state.save(path)
      told += 1
    }
    return due.count - told
  }

  /// Sessions whose crash is not reported yet.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func waiting() throws -> [SessionID] {
    try HookState.load(path)?.waiting?.compactMap { SessionID($0) } ?? []
  }
}
