package import ObjectStore
package import Platform
package import Replica
package import SessionLog

/// One device of a fleet, as its sessions in a store show it.
package struct DeviceSummary: Sendable, Codable, Equatable {
  package let deviceId: String
  package let deviceName: String
  /// When its newest object was written, by the server's clock; nil if none was found.
  package private(set) var lastSeen: Timestamp?
  /// Sessions that have not ended.
  package private(set) var openSessions = 0
  /// Log bytes that its sidecars state and the store lacks.
  package private(set) var waitingBytes: ByteCount = 0
  /// Sessions that crashed within 24 hours.
  package private(set) var crashes = 0
  /// Records of level ERROR and above in sessions that were sent within 24 hours.
  package private(set) var errors = 0
  /// The program of its newest session.
  package private(set) var app: String?
  /// That program's version.
  package private(set) var version: String?
  /// Sessions whose sidecars cannot be believed, among those whose sidecars were read.
  package private(set) var rejected: [SessionID] = []

  private enum CodingKeys: String, CodingKey {
    case deviceId, lastSeen, openSessions, waitingBytes, crashes, errors, app, version, rejected
    case deviceName = "device"
  }

  private static let day = Duration.hours(24)
  /// Older folders are read only if there is no newer one.
  private static let recent = Duration.days(14)
  /// A younger log without any revision may be on its way.
  private static let underway = Duration.hours(1)

  /// Reads the summaries of devices from a store: their folders of the last two weeks, and the
  /// sidecars of sessions that are open or were sent within a day.
  ///
  /// - Parameter keys: the keys that revisions must be signed with; nil to skip that check.
  /// - Throws: ``ObjectStore/StoreError``.
  package static func read(
    _ devices: [DeviceRecord], in store: any ObjectStore, knowing keys: KnownKeys?, now: Timestamp
  ) async throws -> [DeviceSummary] {
    let reader = RemoteReader(store, knowing: keys)
    return try await devices.concurrentMap {
      try await DeviceSummary($0, in: store, by: reader, now: now)
    }
  }

  private init(
    _ device: DeviceRecord, in store: any ObjectStore, by reader: RemoteReader, now: Timestamp
  ) async throws {
    deviceId = device.deviceId
    deviceName = AlertSubject(device: device.deviceId, deviceName: device.deviceName).deviceName
    let folders = try await SessionFolder.all(of: [device.deviceId], in: store)
      .sorted { $0.day > $1.day }
    let oldest = (now - Self.recent).day
    let wanted = folders.enumerated().filter { $0.offset == 0 || $0.element.day >= oldest }
    var newest: SessionID?
    for folder in wanted.map(\.element) {
      let listing = try await FolderListing(folder, in: store)
      for (session, remote) in listing.sessions {
        // For display: a difference between the clocks shows as a slightly different age.
        let seen = remote.newest?.assumingSynchronizedClocks ?? session.startedAt
        lastSeen = max(lastSeen ?? seen, seen)
        if remote.seal == nil { openSessions += 1 }
        let isNewest = newest.map { $0 < session } ?? true
        guard isNewest || remote.seal == nil || now - seen < Self.day else { continue }
        guard remote.revision != nil || now - seen >= Self.underway else { continue }
        let sidecar: Sidecar?
        do {
          sidecar = try await reader.accept(remote).sidecar
        } catch is ReplicaError {
          rejected.append(session)
          continue
        } catch let error as StoreError where error.isNotFound {
          continue
        }
        guard let sidecar else { continue }
        if isNewest {
          let subject = AlertSubject(sidecar)
          (newest, app, version) = (session, subject.app, subject.version)
        }
        count(sidecar, remote, isRecent: now - seen < Self.day, now)
      }
    }
  }

  private mutating func count(
    _ sidecar: Sidecar, _ remote: RemoteSession, isRecent: Bool, _ now: Timestamp
  ) {
    if remote.seal == nil, !sidecar.withholdsLog {
      let waiting = sidecar.fileSizeBytes - remote.mark.byteCount
      if waiting > 0 { waitingBytes += waiting }
    }
    let crash = CrashReport(sidecar)
    if crash.isCrash, now - crash.endedAt < Self.day { crashes += 1 }
    guard isRecent else { return }
    for level in ["ERROR", "FAULT"] {
      let (sum, isTooMuch) = errors.addingReportingOverflow(max(0, sidecar.levels[level] ?? 0))
      errors = isTooMuch ? .max : sum
    }
  }
}
