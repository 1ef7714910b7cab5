import Crypto
import Delta
import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import TestSupport

/// A device that sends sessions as the uploader does.
final class SimulatedDevice {
  let id: String
  private let device: Device
  private let store: TimedStore
  private let encoder: SegmentEncoder
  private(set) var sessions:
    [SessionID: (sidecar: Sidecar, log: [UInt8], sent: Int, revision: Int)] = [:]
  private var names: [SessionID: [SegmentName]] = [:]

  init(_ id: String, _ store: TimedStore) throws {
    (self.id, self.store) = (id, store)
    device = try JSONDecoder().decode(
      Device.self,
      from: Data(
        """
        {"deviceId":"\(id)","deviceName":"host-\(id)","osVersion":"test","formerIds":[],\
        "created":"2026-01-01T00:00:00.000Z"}
        """.utf8))
    encoder = try SegmentEncoder()
    store["devices/\(id)/device.json"] = Array(try DeviceRecord(device).json().utf8)
  }

  /// Begins a session; nothing is sent yet.
  func begin(
    _ app: String = "app", version: String? = nil, change: (inout Sidecar) -> Void = { _ in }
  )
    -> SessionID
  {
    let now = store.clock.now()
    let number = sessions.count
    let suffix = String(String(number + 36 * 36 * 36, radix: 36).suffix(8))
    let random = String(repeating: "a", count: 8 - suffix.count) + suffix
    guard let session = SessionID("\(now.compact)-\(random)") else { preconditionFailure() }
    var sidecar = Sidecar(
      id: session, device: device, appName: app, appVersion: version, recorder: nil, startedAt: now)
    change(&sidecar)
    sessions[session] = (sidecar, [], 0, 0)
    return session
  }

  /// Writes a record; nothing is sent yet.
  func write(
    _ text: String, _ level: Level = .info, to session: SessionID, at time: Timestamp? = nil
  ) {
    append("\(time ?? now) [\(level.name)] [stdout] \(text)\n", to: session)
  }

  var now: Timestamp { store.clock.now() }

  func append(_ text: String, to session: SessionID) {
    sessions[session]?.log += Array(text.utf8)
  }

  /// Sends new records and, if a cause is given, the end.
  func upload(_ session: SessionID, ending cause: ExitCause? = nil) throws {
    guard var state = sessions[session] else { preconditionFailure() }
    let folder = SessionFolder(device: id, session: session)
    if state.sent < state.log.count {
      let bytes = Array(state.log[state.sent...])
      try bytes.withUnsafeBytes {
        var statistics = LogStatistics()
        statistics.add($0)
        statistics.finish()
        try encoder.append(
          $0, lines: statistics.lines, times: statistics.milliseconds, levels: statistics.counts)
      }
      let object = encoder.finish(link: Link(before: state.log[..<state.sent]), delta: nil)
      let name = SegmentName(
        session: session, generation: 1,
        range: StreamOffset(state.sent)..<StreamOffset(state.log.count),
        hash: Hex.text(SHA256.hash(data: bytes).prefix(8)), stored: ByteCount(object.count))
      store[folder.key + name.fileName] = object
      names[session, default: []].append(name)
      state.sent = state.log.count
    }
    if cause != nil || state.revision == 0 {
      state.revision += 1
      var sidecar = state.sidecar
      sidecar.lastUpdatedAt = store.clock.now()
      sidecar.fileSizeBytes = ByteCount(state.log.count)
      if let cause {
        (sidecar.status, sidecar.cause, sidecar.endedAt) = (
          cause.status, cause, state.sidecar.endedAt ?? store.clock.now()
        )
        sidecar.digest = Hex.text(SHA256.hash(data: state.log))
        sidecar.objects = names[session, default: []].map(\.fileName)
        if cause.status == .crashed {
          let lines = String(decoding: state.log, as: UTF8.self).split(separator: "\n").suffix(200)
          sidecar.crash = Sidecar.Crash(lines: lines.map(String.init))
        }
      }
      let json = try sidecar.json()
      let name = RevisionName(
        session: session, number: state.revision, status: sidecar.status,
        length: StreamOffset(state.log.count), json: json)
      store[folder.key + name.fileName] = json
    }
    sessions[session] = state
  }
}

extension SimulatedDevice {
  /// Writes a line after a record's time; nothing is sent yet.
  func writeLine(_ text: String, to session: SessionID) {
    append("\(now) \(text)\n", to: session)
  }
}
