package import Platform

/// Follows several sessions until all of them have ended.
package struct SessionFollowing {
  private let sessions: [FollowedSession]
  private let pause: Duration
  private let uptime: @Sendable () -> Duration
  private let pausing: @Sendable (Duration) async throws -> Void

  /// How often local files are checked.
  private static let localPause = Duration.milliseconds(200)

  /// Describes what to follow.
  ///
  /// - Parameters:
  ///   - sessions: the sessions, whose last lines were shown already.
  ///   - pause: how often the store is asked.
  ///   - machine: its clock for intervals measures that.
  ///   - pausing: waits.
  package init(
    _ sessions: [FollowedSession], askingEvery pause: Duration, on machine: Machine,
    pausing: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.sessions, self.pause) = (sessions, pause)
    (uptime, self.pausing) = (machine.uptime, pausing)
  }

  /// Follows them.
  ///
  /// - Parameters:
  ///   - show: called with all sessions whenever they may have new lines.
  ///   - reportEnd: called with each session that has ended.
  /// - Returns: whether every session was followed to its end.
  /// - Throws: errors of the store and of local files, and of `show`; `CancellationError`.
  package func run(
    show: ([FollowedSession]) async throws -> Void, reportEnd: (FollowedSession) -> Void
  ) async throws -> Bool {
    var rest = sessions
    var next = uptime()
    while true {
      let asksStore = uptime() >= next
      if asksStore { next = uptime() + pause }
      for session in rest where session.isLocal || asksStore { try await session.poll() }
      try await show(sessions)
      for session in rest where session.isDone { reportEnd(session) }
      rest.removeAll(where: \.isDone)
      guard !rest.isEmpty else { return sessions.allSatisfy { $0.problem == nil } }
      try await pausing(rest.contains(where: \.isLocal) ? Self.localPause : pause)
    }
  }
}
