import Platform

/// The room for sessions in the state between passes, which is one file of limited length: names
/// that anyone put into a device's folder must not fill it.
final class SessionRoom: Sendable {
  /// Maximum number of sessions of all devices.
  private let most: Int
  private let used: Guarded<Int>

  /// Maximum number of sessions without more than their names: about 13 MB.
  static let standard = 120_000
  /// How many times as long a session is with the fields of its sidecar.
  private static let factsFactor = 4

  /// The room that is left.
  ///
  /// - Parameters:
  ///   - most: maximum number of sessions without more than their names.
  ///   - hasFacts: whether sidecars are read.
  init(most: Int, hasFacts: Bool, beside cursors: AlertCursors) {
    self.most = hasFacts ? most / Self.factsFactor : most
    used = Guarded(cursors.devices.values.reduce(0) { $0 + $1.sessionCount })
  }

  /// Takes room for another session; false if there is none.
  ///
  /// One device gets most of it, but leaves some to others.
  ///
  /// - Parameter known: the number of the device's sessions that have room.
  func take(beside known: Int) -> Bool {
    guard known < most / 6 * 5 else { return false }
    let most = most
    return used.withLock { used in
      guard used < most else { return false }
      used += 1
      return true
    }
  }
}

extension AlertCursors.Device {
  /// Number of its known sessions.
  var sessionCount: Int { folders.values.reduce(0) { $0 + $1.sessions.count } }
}
