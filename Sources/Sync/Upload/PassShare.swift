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

  /// Log bytes that the pass sends of each session at present.
  private var bytes: ByteCount {
    if isUnlimited { return .max }
    return uptime() - start < limits.longPass ? limits.sessionShare : limits.lateShare
  }

  /// Log bytes that the pass may still send of a session.
  func rest(after sent: ByteCount) -> ByteCount { bytes - sent }
}
