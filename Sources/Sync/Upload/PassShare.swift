import Platform

/// How much of one session a pass sends before it turns to the others.
///
/// A file of holes takes its user no space and has any length. Without a share, one of them keeps
/// a pass, and so everything else in the home, waiting for hours. Later passes send the rest.
struct PassShare: Sendable {
  private let limits: UploadLimits
  private let uptime: @Sendable () -> Duration
  private let start: Duration
  private let isUnlimited: Bool

  /// Begins a pass.
  ///
  /// - Parameter isUnlimited: whether a person waits for all of the sessions.
  init(_ context: SyncContext, isUnlimited: Bool) {
    (limits, uptime) = (context.limits, context.machine.uptime)
    start = context.machine.uptime()
    self.isUnlimited = isUnlimited
  }

  private var isLate: Bool { uptime() - start >= limits.longPass }

  /// Log bytes that the pass may still send of a session.
  func rest(after sent: ByteCount) -> ByteCount {
    if isUnlimited { return .max }
    return (isLate ? limits.lateShare : limits.sessionShare) - sent
  }

  /// The same for a generation, which counts only once it is whole: only time limits it, so that a
  /// log that is rewritten between passes is sent in one of them.
  func restOfGeneration(after sent: ByteCount) -> ByteCount {
    isUnlimited || !isLate ? .max : limits.lateShare - sent
  }
}
