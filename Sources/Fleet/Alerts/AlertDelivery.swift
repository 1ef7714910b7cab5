package import Platform

/// Delivers messages to targets.
package protocol AlertSender: Sendable {
  /// Delivers a message.
  ///
  /// May be called again with the same message.
  ///
  /// - Returns: why it was not delivered, in one line for a person; nil if it was.
  func send(_ message: AlertNotification, to target: String) async -> String?
}

/// Delivers the messages of the outbox, as far as targets accept them.
///
/// Each target gets its messages in order. Targets are independent of each other; a failing one is
/// retried after 1, 2, 4 and up to 15 minutes. The state is saved after each delivered message: a
/// process killed in between delivers that message again.
package struct AlertDelivery: Sendable {
  private let sender: any AlertSender
  private let now: @Sendable () -> Timestamp

  /// How long delivery of a message is attempted.
  package static let patience = Duration.days(1)

  /// Makes a delivery.
  package init(_ sender: any AlertSender, now: @escaping @Sendable () -> Timestamp) {
    (self.sender, self.now) = (sender, now)
  }

  /// Delivers.
  ///
  /// - Parameters:
  ///   - state: the state with its outbox.
  ///   - save: makes the state durable.
  /// - Returns: the messages that were given up.
  /// - Throws: errors of `save`.
  package func run(
    _ state: inout AlertState, save: (AlertState) throws -> Void
  ) async throws -> [OutgoingAlert] {
    let start = now()
    let lost = state.outbox.filter { start - $0.decidedAt > Self.patience }
    state.outbox.removeAll { start - $0.decidedAt > Self.patience }
    let waiting = Set(state.outbox.map(\.target))
    state.failing = state.failing.filter { waiting.contains($0.key) }
    try await withThrowingTaskGroup(of: (OutgoingAlert, String?).self) { group in
      func next(_ target: String, _ state: AlertState) {
        guard state.failing[target]?.isPaused(at: start) != true,
          let message = state.outbox.first(where: { $0.target == target })
        else { return }
        let sender = sender
        group.addTask { (message, await sender.send(message.notification, to: target)) }
      }
      for target in waiting.sorted() { next(target, state) }
      while let (message, error) = try await group.next() {
        if let error {
          var failing = state.failing[message.target] ?? FailingTarget(next: start)
          failing.record(error, at: now())
          state.failing[message.target] = failing
        } else {
          state.failing[message.target] = nil
          state.outbox.removeAll {
            $0.target == message.target && $0.notification.id == message.notification.id
          }
        }
        try save(state)
        if error == nil { next(message.target, state) }
      }
    }
    return lost
  }
}
