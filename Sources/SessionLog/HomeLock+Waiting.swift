import Platform

extension HomeLock {
  /// Lock polling interval.
  private static let interval = Duration.milliseconds(50)

  /// Acquires the lock of a home, waiting while another process has it; nil if it is still taken
  /// after a time.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - limit: how long to wait.
  ///   - pausing: waits between two attempts.
  /// - Throws: ``Platform/SystemError``, and errors of `pausing`.
  package static func acquire(
    _ home: Home, within limit: Duration, pausing: @Sendable (Duration) async throws -> Void
  ) async throws -> HomeLock? {
    var waited = Duration.zero
    while true {
      if let lock = try acquire(home) { return lock }
      guard waited < limit else { return nil }
      try await pausing(interval)
      waited += interval
    }
  }
}
