import Platform

/// The time that a pass may spend on sending.
///
/// What is recorded during a pass waits for the next one. So one that is long enough ends between
/// two segments, and the next one begins with a new plan: sessions with little to send come first
/// again, and no number or length of logs keeps the others waiting.
struct PassBudget: Sendable {
  private let uptime: @Sendable () -> Duration
  private let limit: Duration?
  private var start: Duration

  /// Begins to count.
  ///
  /// - Parameter limit: the time; nil to send everything.
  init(_ limit: Duration?, on machine: Machine) {
    (self.limit, uptime, start) = (limit, machine.uptime, machine.uptime())
  }

  /// The same time again, from now on.
  func renewed() -> PassBudget {
    var budget = self
    budget.start = uptime()
    return budget
  }

  /// Whether the time is over.
  var isSpent: Bool { limit.map { uptime() - start >= $0 } ?? false }
}
