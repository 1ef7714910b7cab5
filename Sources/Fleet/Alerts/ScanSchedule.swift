import Platform

/// Chooses the folders that a pass lists: as few as show everything new.
///
/// | what | how often |
/// |---|---|
/// | the devices | every 15 minutes |
/// | a device's day folders | every 15 minutes; a new one is listed at once |
/// | today's folder, and until 6:00 UTC yesterday's | each pass |
/// | folders of open sessions | each pass |
/// | all folders of the last 14 days | every 6 hours, and when a device returns after 6 hours |
enum ScanSchedule {
  static let discovery = Duration.seconds(15 * 60)
  static let sweep = Duration.hours(6)
  /// A device that was silent for this long may send sessions of earlier days.
  static let absence = Duration.hours(6)
  /// Older folders are listed once, and while a session in them is open; sessions that ended before
  /// are not news.
  static let recent = Duration.days(14)
  /// Tolerance for cron's delays.
  private static let slack = Duration.seconds(10)

  static func isDue(_ last: ServerTime?, every interval: Duration, at now: ServerTime) -> Bool {
    guard let last else { return true }
    return now < last || now - last >= interval - slack
  }

  /// Days whose folders to list, besides those never listed.
  static func days(of device: AlertCursors.Device, at now: ServerTime) -> Set<String> {
    var days: Set = [now.day]
    let yesterday = (now - .days(1)).day
    let isEarly = now.milliseconds / 3_600_000 % 24 < 6
    if isEarly, device.folders[yesterday] != nil || device.folders.isEmpty {
      days.insert(yesterday)
    }
    for (day, folder) in device.folders {
      let isOpen = folder.sessions.values.contains { $0.isOpen && $0.missingSince == nil }
      if isOpen || folder.listedAt == nil { days.insert(day) }
    }
    return days
  }

  /// Days whose folders a sweep lists.
  static func sweptDays(of device: AlertCursors.Device, at now: ServerTime) -> Set<String> {
    Set(device.folders.keys.filter { $0 >= (now - recent).day })
  }
}
