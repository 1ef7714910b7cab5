import Platform

/// Which folders a pass lists: the fewest that show what is new.
///
/// | what | how often |
/// |---|---|
/// | the devices | every 15 minutes |
/// | a device's day folders | every 15 minutes; one that was never looked into is listed at once |
/// | today's folder, and until 6:00 UTC yesterday's | each pass |
/// | folders of sessions that are open | each pass |
/// | all folders of the last 14 days | every 6 hours, and when a device comes back after as long |
enum ScanSchedule {
  static let discovery = Duration.seconds(15 * 60)
  static let sweep = Duration.hours(6)
  /// A device that was silent for so long may bring what it recorded meanwhile.
  static let absence = Duration.hours(6)
  /// Folders that began longer ago are looked into once, and while a session in them is open; what
  /// ended longer ago is no news.
  static let recent = Duration.days(14)
  /// Cron is not punctual.
  private static let slack = Duration.seconds(10)

  static func isDue(_ last: Timestamp?, every interval: Duration, at now: Timestamp) -> Bool {
    guard let last else { return true }
    return now < last || now - last >= interval - slack
  }

  /// Days to look into, besides those that were never looked into.
  static func days(of device: AlertCursors.Device, at now: Timestamp) -> Set<String> {
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

  /// Days that a sweep looks into.
  static func sweptDays(of device: AlertCursors.Device, at now: Timestamp) -> Set<String> {
    Set(device.folders.keys.filter { $0 >= (now - recent).day })
  }
}
