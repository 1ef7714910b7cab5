import Platform

/// How much of one session a pass sends before it turns to the others.
///
/// A file of holes takes its user no space and has any length. Without a share, one of them keeps
/// a pass, and so everything else in the home, waiting for hours. Later passes send the rest.
struct PassShare: Sendable {
  private let limits: UploadLimits
  private let uptime: @Sendable () -> Duration
  private let start: Duration
  private var turn: Duration
  private let isUnlimited: Bool

  /// Begins a pass.
  ///
  /// - Parameter isUnlimited: whether a person waits for all of the sessions.
  init(_ context: SyncContext, isUnlimited: Bool) {
    (limits, uptime) = (context.limits, context.machine.uptime)
    start = context.machine.uptime()
    turn = start
    self.isUnlimited = isUnlimited
  }

  /// The same share for a session whose turn begins now.
  func begun() -> PassShare {
    var share = self
    share.turn = uptime()
    return share
  }

  /// Log bytes that the pass may still send of a session.
  func rest(after sent: ByteCount) -> ByteCount {
    if isUnlimited { return .max }
    return (uptime() - start < limits.longPass ? limits.sessionShare : limits.lateShare) - sent
  }

  /// Whether the pass may send more of a generation, which counts only once it is whole: a log that is
  /// rewritten between passes must be sent in one of them, so that only its own time limits it.
  func admitsGeneration(after sent: ByteCount) -> Bool {
    isUnlimited || sent == 0 || uptime() - turn < limits.longPass
  }
}
