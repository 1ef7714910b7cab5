import ObjectStore
import Platform
import Replica
import SessionLog

/// Reads the news of one device.
struct DeviceScan {
  private let scan: AlertScan
  private let id: String
  private var device: AlertCursors.Device
  /// Whether findings may be old, because the device was not read before.
  private let isFirst: Bool
  private var reading = AlertReading()
  private let room: SessionRoom
  /// Number of its sessions that have room.
  private var count: Int
  /// Number of its sessions for which there is none.
  private var leftOut = 0

  /// How long listings must lack a session before it counts as gone: some servers omit names at
  /// times.
  private static let disappearance = Duration.days(2)

  init(
    _ scan: AlertScan, _ id: String, _ device: AlertCursors.Device, _ room: SessionRoom,
    isFirst: Bool
  ) {
    (self.scan, self.id, self.device, self.isFirst) = (scan, id, device, isFirst)
    (self.room, count) = (room, device.sessionCount)
  }

  struct Result: Sendable {
    let id: String
    let device: AlertCursors.Device
    let reading: AlertReading
  }

  consuming func read() async throws -> Result {
    try await listFolders()
    let before = device.newest
    let days = ScanSchedule.days(of: device, at: scan.now)
    try await read(into: days)
    let isBack = before.map { (device.newest ?? $0) - $0 >= ScanSchedule.absence } ?? false
    if isBack || ScanSchedule.isDue(device.sweptAt, every: ScanSchedule.sweep, at: scan.now) {
      device.sweptAt = scan.now
      if isBack { try await listFolders(always: true) }
      try await read(
        into: ScanSchedule.sweptDays(of: device, at: scan.now).subtracting(days))
      try await checkForDisappearance()
    }
    reportTimes()
    reportLeftOut()
    forget()
    device.isPassedOver = false
    return Result(id: id, device: device, reading: reading)
  }

  private mutating func listFolders(always: Bool = false) async throws {
    guard
      always
        || ScanSchedule.isDue(
          device.foldersListedAt, every: ScanSchedule.discovery, at: scan.now)
    else { return }
    let folders = try await SessionFolder.all(of: [id], in: scan.store)
    let newest = Set(folders.map(\.day).sorted().suffix(room.foldersOfOne))
    for day in newest where device.folders[day] == nil { device.folders[day] = .init() }
    // Some servers keep empty folders; remembering them for a while costs nothing.
    let listed = Set(folders.map(\.day))
    device.folders = device.folders.filter {
      listed.contains($0.key) || $0.key >= (scan.now - ScanSchedule.recent).day
    }
    if device.folders.count > room.foldersOfOne {
      let kept = Set(device.folders.keys.sorted().suffix(room.foldersOfOne))
      device.folders = device.folders.filter { kept.contains($0.key) }
    }
    device.foldersListedAt = scan.now
  }

  private mutating func read(into days: Set<String>) async throws {
    let (store, id) = (scan.store, id)
    let listings = try await days.sorted().concurrentMap { day in
      try await FolderListing(SessionFolder(device: id, day: day), in: store)
    }
    for (day, listing) in zip(days.sorted(), listings) { try await read(listing, of: day) }
  }

  private mutating func read(_ listing: FolderListing, of day: String) async throws {
    var folder = device.folders[day] ?? .init()
    guard !listing.sessions.isEmpty || device.folders[day] != nil else { return }
    func add(_ found: SessionScan.Result) {
      folder.sessions[found.session.description] = found.cursor
      hear(found.cursor.newest)
      reading.add(found.reading)
    }
    var wanted: [SessionScan] = []
    for (session, remote) in listing.sessions.sorted(by: { $0.key < $1.key }) {
      let known = folder.sessions[session.description]
      guard known != nil || hasRoom() else {
        leftOut += 1
        hear(remote.newest)
        continue
      }
      let one = SessionScan(scan, remote, known, isFirst: isFirst)
      if let found = one.readNames() { add(found) } else { wanted.append(one) }
    }
    try await wanted.concurrentForEach({ try await $0.read() }, add)
    for id in folder.sessions.keys where SessionID(id).map({ listing.sessions[$0] == nil }) ?? true
    {
      let since = folder.sessions[id]?.missingSince ?? scan.now
      let isGone = scan.now - since >= Self.disappearance
      folder.sessions[id]?.missingSince = since
      if isGone { folder.sessions[id] = nil }
    }
    folder.listedAt = scan.now
    device.folders[day] = folder
  }

  /// Notices when no object of the device is left in the store, as after its retention: then it is
  /// gone rather than silent.
  private mutating func checkForDisappearance() async throws {
    guard device.newest != nil, try await !hasSessions() else {
      device.emptySince = nil
      return
    }
    let since = device.emptySince ?? scan.now
    let isGone = scan.now - since >= Self.disappearance
    device.emptySince = isGone ? nil : since
    if isGone { device.newest = nil }
  }

  private func hasSessions() async throws -> Bool {
    let isThere = device.folders.values.contains { folder in
      folder.sessions.values.contains { $0.missingSince == nil }
    }
    guard !isThere else { return true }
    // Of the folders that are no longer read, the newest is emptied last.
    let oldest = (scan.now - ScanSchedule.recent).day
    for day in device.folders.keys.filter({ $0 < oldest }).sorted(by: >) {
      let listing = try await FolderListing(SessionFolder(device: id, day: day), in: scan.store)
      if !listing.sessions.isEmpty { return true }
    }
    return false
  }

  /// Forgets sessions of folders that are no longer read.
  private mutating func forget() {
    let oldest = (scan.now - ScanSchedule.recent).day
    for (day, folder) in device.folders
    where day < oldest && !folder.sessions.values.contains(where: \.isOpen) {
      device.folders[day]?.sessions = [:]
    }
  }

  private mutating func hear(_ newest: ServerTime?) {
    guard let newest else { return }
    device.newest = max(device.newest ?? newest, newest)
  }

  /// Takes room for another session of the device; false if there is none.
  private mutating func hasRoom() -> Bool {
    guard room.take(beside: count) else { return false }
    count += 1
    return true
  }

  /// Reports once a day that sessions are left out.
  private mutating func reportLeftOut() {
    guard leftOut > 0, ScanSchedule.isDue(device.leftOutAt, every: .days(1), at: scan.now) else {
      return
    }
    device.leftOutAt = scan.now
    reading.problems.append(Self.leftOut(leftOut, of: device.name ?? id))
  }

  /// A line about sessions that have no room.
  static func leftOut(_ count: Int, of device: String) -> String {
    "\(device): \(count) sessions are left out, as the store has more of them than alerts can "
      + "remember; nothing of these is reported"
  }

  /// Reports when the device and its sessions last sent something.
  private mutating func reportTimes() {
    if let newest = device.newest {
      reading.heard.append(
        .init(AlertSubject(device: id, deviceName: device.name ?? id), newest: newest))
    }
    guard scan.readsSessionsForSilence else { return }
    for session in device.folders.values.flatMap(\.sessions.values) {
      guard let facts = session.facts, let newest = session.newest else { continue }
      reading.heard.append(.init(facts.subject, newest: newest))
    }
  }
}
