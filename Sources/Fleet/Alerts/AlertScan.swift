package import ObjectStore
package import Platform
package import Replica
import SessionLog

/// Reads the news in a store that rules need: names first, then sidecars, then the ends of streams.
package struct AlertScan: Sendable {
  let store: any ObjectStore
  let keys: KnownKeys?
  let rules: [AlertRule]
  /// The server's time.
  let now: ServerTime
  /// The maximum age of news in a first pass.
  let newsAge: Duration
  /// Maximum number of sessions to remember.
  let sessionLimit: Int

  /// The key prefix of all devices.
  static let root = SessionFolder.devicesKey

  /// Makes a scan.
  ///
  /// - Parameters:
  ///   - store: the store to read.
  ///   - keys: the keys that revisions must be signed with; nil to skip that check.
  ///   - rules: the rules, which determine what is read.
  ///   - now: the server's time.
  ///   - newsAge: the maximum age of news in a first pass.
  ///   - sessionLimit: maximum number of sessions to remember; nil for as many as the state's file
  ///     can have.
  package init(
    _ store: any ObjectStore, knowing keys: KnownKeys?, _ rules: [AlertRule], now: ServerTime,
    newsAge: Duration = AlertPlan.newsAge, sessionLimit: Int? = nil
  ) {
    self.sessionLimit = sessionLimit ?? SessionRoom.standard
    (self.store, self.keys, self.rules) = (store, keys, rules)
    (self.now, self.newsAge) = (now, newsAge)
  }

  /// Reads the news, and advances the cursors.
  ///
  /// - Throws: ``ObjectStore/StoreError`` if the store fails; then discard the cursors. A damaged
  ///   object does not prevent reading the others.
  package func read(_ cursors: inout AlertCursors) async throws -> AlertReading {
    let isFirst = cursors.devicesListedAt == nil
    var reading = AlertReading()
    try await listDevices(&cursors, &reading)
    try await nameDevices(&cursors)
    var wanted: [(id: String, device: AlertCursors.Device)] = []
    for (id, device) in cursors.devices.sorted(by: { $0.key < $1.key }) {
      if mayMatch(id, device) {
        wanted.append((id, device))
      } else {
        cursors.devices[id] = device.passedOver
      }
    }
    let room = SessionRoom(
      most: sessionLimit, hasFacts: readsRecords || readsSessionsForSilence, beside: cursors)
    try await wanted.concurrentForEach { id, device in
      let isFirst = isFirst || device.isPassedOver
      return try await DeviceScan(self, id, device, room, isFirst: isFirst).read()
    } _: { result in
      cursors.devices[result.id] = result.device
      reading.add(result.reading)
    }
    for (id, count) in room.evict(from: &cursors).sorted(by: { $0.key < $1.key }) {
      reading.problems.append(DeviceScan.leftOut(count, of: cursors.devices[id]?.name ?? id))
    }
    return reading
  }

  private func listDevices(
    _ cursors: inout AlertCursors, _ reading: inout AlertReading
  ) async throws {
    // Alerts may be configured before the first device uploads.
    guard
      cursors.devices.isEmpty
        || ScanSchedule.isDue(cursors.devicesListedAt, every: ScanSchedule.discovery, at: now)
    else { return }
    let page = try await store.listAll(Self.root)
    let ids = page.directories
      .map { String($0.dropFirst(Self.root.count).dropLast()) }
      .filter(Device.isID)
    let new = ids.filter { cursors.devices[$0] == nil }
    let room = max(0, SessionRoom.mostDevices - cursors.devices.count)
    for id in new.prefix(room) { cursors.devices[id] = .init() }
    if new.count > room {
      reading.problems.append(
        "\(new.count - room) devices are left out, as the store has more of them than alerts can "
          + "remember; nothing of these is reported")
    }
    // A device missing from an incomplete listing is not gone: its folders decide that.
    cursors.devicesListedAt = now
  }

  /// Time between two requests for a device's name.
  private static let naming = Duration.days(1)

  private func nameDevices(_ cursors: inout AlertCursors) async throws {
    guard rules.contains(where: { !$0.filter.devices.isEmpty || $0.isOfSilence }) else { return }
    let due = cursors.devices.sorted { $0.key < $1.key }
      .filter { ScanSchedule.isDue($0.value.namedAt, every: Self.naming, at: now) }.map(\.key)
    let store = store
    try await due.concurrentForEach {
      try await DeviceRecord.read($0, in: store)
    } _: { record in
      let id = record.deviceId
      cursors.devices[id]?.name =
        AlertSubject(device: id, deviceName: record.deviceName).deviceName
      cursors.devices[id]?.namedAt = now
    }
  }

  /// Whether any rule may apply to a device.
  private func mayMatch(_ id: String, _ device: AlertCursors.Device) -> Bool {
    rules.contains { $0.filter.admits(device: id, named: device.name) }
  }

  /// Whether a session's end needs its sidecar.
  func readsEnd(_ status: SessionStatus) -> Bool {
    rules.contains { rule in
      guard case .crash(let includesFailures) = rule.condition else { return false }
      return status == .crashed || (status == .terminated && includesFailures)
    }
  }

  var readsRecords: Bool { rules.contains { $0.records != nil } }

  var readsSessionsForSilence: Bool { rules.contains(where: \.readsSessionsForSilence) }
}

extension AlertReading {
  mutating func add(_ other: AlertReading) {
    crashes += other.crashes
    records += other.records
    heard += other.heard
    problems += other.problems
  }
}

extension AlertCursors.Device {
  /// The same device, marked as covered by no rule.
  fileprivate var passedOver: AlertCursors.Device {
    var device = AlertCursors.Device()
    (device.name, device.namedAt, device.isPassedOver) = (name, namedAt, true)
    return device
  }
}
