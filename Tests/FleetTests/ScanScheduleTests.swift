import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet

@Suite(.tags(.small)) struct ScanScheduleTests {
  private static func device(
    _ folders: [(day: String, isListed: Bool, isOpen: Bool)]
  ) -> AlertCursors.Device {
    var device = AlertCursors.Device()
    for (day, isListed, isOpen) in folders {
      var folder = AlertCursors.Folder()
      if isListed { folder.listedAt = ServerTime(milliseconds: 0) }
      var session = AlertCursors.Session()
      session.status = isOpen ? .active : .terminated
      folder.sessions["x"] = session
      device.folders[day] = folder
    }
    return device
  }

  /// The time, the known folders, and those to be listed.
  @Test(
    arguments: [
      ("2026-01-22T05:59:59Z", [], ["2026-01-21", "2026-01-22"]),
      ("2026-01-22T06:00:00Z", [], ["2026-01-22"]),
      ("2026-01-22T05:00:00Z", [("2026-01-20", true, false)], ["2026-01-22"]),
      (
        "2026-01-22T05:00:00Z", [("2026-01-21", true, false)], ["2026-01-21", "2026-01-22"]
      ),
      ("2026-01-22T12:00:00Z", [("2026-01-21", true, false)], ["2026-01-22"]),
      // An open session, and a folder that was never listed, at any age.
      (
        "2026-01-22T12:00:00Z", [("2025-11-01", true, true), ("2025-12-01", false, false)],
        ["2025-11-01", "2025-12-01", "2026-01-22"]
      ),
    ] as [(String, [(String, Bool, Bool)], [String])])
  func `a pass lists recent days and days with open sessions`(
    time: String, folders: [(String, Bool, Bool)], days: [String]
  ) throws {
    let now = try #require(Timestamp(iso: time)).assumingSynchronizedClocks
    let device = Self.device(folders.map { (day: $0.0, isListed: $0.1, isOpen: $0.2) })
    #expect(ScanSchedule.days(of: device, at: now).sorted() == days)
  }

  @Test func `a sweep lists two weeks of day folders`() throws {
    let now = try #require(Timestamp(iso: "2026-01-22T12:00:00Z")).assumingSynchronizedClocks
    let days = ["2026-01-07", "2026-01-08", "2026-01-22"]
    let device = Self.device(days.map { (day: $0, isListed: true, isOpen: false) })
    #expect(ScanSchedule.sweptDays(of: device, at: now) == ["2026-01-08", "2026-01-22"])
  }

  @Test func `a scan is due slightly early, and after the clock is set back`() {
    let start = ServerTime(milliseconds: 1_769_092_205_123)
    let due = [-1, 0, 889, 890, 900].map {
      ScanSchedule.isDue(start, every: .seconds(900), at: start + .seconds($0))
    }
    #expect(due == [true, false, false, true, true])
    #expect(ScanSchedule.isDue(nil, every: .seconds(900), at: start))
  }
}
