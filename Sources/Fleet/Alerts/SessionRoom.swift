import Platform

/// The room for sessions and folders in the state between passes, which is one file of limited length:
/// names that anyone put into a device's folder must not fill it.
///
/// Each device has a part of its own. What others do not use of theirs it may have as well, but gives
/// it back when they need it.
final class SessionRoom: Sendable {
  /// Maximum number of sessions of all devices.
  private let most: Int
  /// Number of devices.
  private let devices: Int
  private let used: Guarded<Int>

  /// Maximum number of sessions without more than their names: each takes up to
  /// ``longestSession`` bytes.
  static let standard = 120_000
  /// Length of a session in the file, without the fields of its sidecar.
  static let longestSession = 192
  /// How many times as long a session is with these.
  static let factsFactor = 6
  /// Maximum number of devices.
  static let mostDevices = 5000
  /// Maximum number of folders of all devices, and the number that each device may have anyway: those
  /// that are read.
  private static let (mostFolders, fewestFolders) = (65_000, 16)
  /// Maximum number of folders of one device; the newest are kept.
  var foldersOfOne: Int { max(Self.fewestFolders, Self.mostFolders / devices) }

  /// The room that is left.
  ///
  /// - Parameters:
  ///   - most: maximum number of sessions without more than their names.
  ///   - hasFacts: whether sidecars are read.
  init(most: Int, hasFacts: Bool, beside cursors: AlertCursors) {
    self.most = hasFacts ? most / Self.factsFactor : most
    devices = max(1, cursors.devices.count)
    used = Guarded(cursors.devices.values.reduce(0) { $0 + $1.sessionCount })
  }

  /// Takes room for another session; false if there is none.
  ///
  /// One device gets most of it, but leaves some to others, and may have its own part even if others
  /// have taken all; see ``evict(from:)``.
  ///
  /// - Parameter known: the number of the device's sessions that have room.
  func take(beside known: Int) -> Bool {
    guard known < most / 6 * 5 else { return false }
    let (most, own) = (most, most / 2 / devices)
    return used.withLock { used in
      guard used < most || known < own else { return false }
      used += 1
      return true
    }
  }

  /// Takes back what some devices have more than others, if there are too many sessions: those that
  /// ended first.
  ///
  /// - Returns: the number of forgotten sessions, by the device's id.
  func evict(from cursors: inout AlertCursors) -> [String: Int] {
    let most = most
    guard used.withLock({ $0 > most }) else { return [:] }
    var known: [(isOpen: Bool, id: String, device: String, day: String)] = []
    for (device, entry) in cursors.devices {
      for (day, folder) in entry.folders {
        for (id, session) in folder.sessions {
          known.append((session.isOpen && session.missingSince == nil, id, device, day))
        }
      }
    }
    known.sort { ($0.isOpen ? 1 : 0, $0.id, $0.device) < ($1.isOpen ? 1 : 0, $1.id, $1.device) }
    let excess = FairShare.excess(
      known.map { (key: $0, holder: $0.device, size: 1) }, within: most)
    var evicted: [String: Int] = [:]
    for (_, id, device, day) in excess {
      cursors.devices[device]?.folders[day]?.sessions[id] = nil
      evicted[device, default: 0] += 1
    }
    return evicted
  }
}

extension AlertCursors.Device {
  /// Number of its known sessions.
  var sessionCount: Int { folders.values.reduce(0) { $0 + $1.sessions.count } }
}
