import Platform

/// Real time in a world, which its clocks may not show.
final class SimulatedTime: Sendable {
  private let elapsed: Guarded<Int64>
  private let beginning: @Sendable () -> Int64

  /// Begins at 2026-01-22T14:30:05.123Z.
  convenience init() { self.init { 1_769_092_205_123 } }

  /// - Parameter beginning: milliseconds since 1970 at the start.
  init(beginning: @escaping @Sendable () -> Int64) {
    self.beginning = beginning
    elapsed = Guarded(0)
  }

  /// Milliseconds since 1970.
  var milliseconds: Int64 { beginning() + elapsed.withLock { $0 } }

  /// Advances the time.
  func advance(_ milliseconds: Int64) { elapsed.withLock { $0 += milliseconds } }
}
