import ArgumentParser
import LogRecords
import ObjectStore
import Platform
import SessionLog
import SessionReading

/// `tidemark list`.
struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List sessions, newest first, local and remote side by side.",
    discussion: """
      With --json one object a line: sessionId, status, cause, running, deviceId, deviceName, \
      userId, appName, startedAt, endedAt, fileSizeBytes, uploadedBytes, location (local, remote \
      or both), and consent where it is metadata: the log was not sent, or not beyond uploadedBytes.
      """)

  @OptionGroup var side: SideOptions
  @Flag(help: "Only sessions that crashed or exited with a status other than 0.")
  var failed = false
  @Flag(help: "All sessions, not the newest 50.")
  var all = false
  @OptionGroup var devices: DeviceOptions
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let entries = try await self.entries(place)
      .filter(owner.includes)
      .filter { !failed || $0.sidecar.hasFailed }
    if json {
      for entry in entries { Console.say(try Console.json(Line(entry))) }
      return
    }
    let now = Timestamp.now()
    for entry in entries { Console.say(Self.row(entry, now)) }
    if entries.isEmpty { Console.remark("no sessions; 'tidemark run -- PROGRAM' records one") }
  }

  private func entries(_ place: Workplace) async throws -> [SessionCatalog.Entry] {
    let limit = all || failed || owner.user != nil ? Int.max : 50
    let catalog = try side.catalog(place)
    do {
      let devices = try await devices.ids(own: place.device.deviceId, in: catalog.context.store)
      let isOwn = devices.contains(place.device.deviceId)
      return try await catalog.entries(
        limit: limit, devices: devices, includesLocal: isOwn && !side.remote)
    } catch let error as StoreError where error.isTransient && !side.remote && devices.device == nil
    {
      Console.complain("showing local sessions only: \(error)")
      return try await SessionCatalog(catalog.context.withoutStore)
        .entries(limit: limit, devices: [])
    }
  }

  private struct Line: Encodable {
    let sessionId: SessionID
    let status: SessionStatus
    let cause: ExitCause?
    let running: Bool
    let deviceId: String
    let deviceName: String
    let userId: String
    let appName: String
    let startedAt: Timestamp
    let endedAt: Timestamp?
    let fileSizeBytes: ByteCount
    let uploadedBytes: ByteCount
    let location: SessionCatalog.Location
    let consent: Consent?

    init(_ entry: SessionCatalog.Entry) {
      sessionId = entry.session
      status = entry.sidecar.status
      cause = entry.sidecar.cause
      running = entry.isRunning
      deviceId = entry.sidecar.deviceId
      deviceName = entry.sidecar.deviceName
      userId = entry.sidecar.userId
      appName = entry.sidecar.appName
      startedAt = entry.sidecar.startedAt
      endedAt = entry.sidecar.endedAt
      fileSizeBytes = entry.length.byteCount
      uploadedBytes = entry.uploaded.byteCount
      location = entry.location
      consent = entry.sidecar.consent
    }
  }

  private static func row(_ entry: SessionCatalog.Entry, _ now: Timestamp) -> String {
    let sidecar = entry.sidecar
    let badge =
      switch sidecar.status {
      case .active: Console.paint(entry.isRunning ? "● ACTIVE    " : "  ACTIVE    ", .green)
      case .terminated:
        Console.paint("  TERMINATED", sidecar.cause?.isFailure == true ? .yellow : nil)
      case .crashed: Console.paint("✖ CRASHED   ", .red)
      }
    let length = Int64(entry.length)
    let share = length == 0 ? 100 : Int64(entry.uploaded) * 100 / length
    let hasNoLog = sidecar.withholdsLog && entry.uploaded == 0
    let silent = now - entry.lastActivity
    var cause = sidecar.cause.map(\.description) ?? ""
    if sidecar.status == .active && silent >= .hours(1) { cause = "silent \(Age.text(silent))" }
    if sidecar.withholdsLog {
      let what = hasNoLog ? "log not sent" : "log sent only so far"
      cause += (cause.isEmpty ? "" : "; ") + "\(what) (consent: metadata)"
    }
    let columns = [
      entry.session.description, badge, pad(entry.location.rawValue, 6),
      pad(entry.length.byteCount.text, 9), pad(hasNoLog ? "-" : "\(share) % up", 9),
      pad(sidecar.appName, 16),
      pad("\(sidecar.userId)@\(sidecar.deviceName)", 20), cause,
    ]
    let line = columns.joined(separator: "  ")
    return line.last == " " ? String(line.reversed().drop { $0 == " " }.reversed()) : line
  }

  /// A sidecar from the store is somebody else's text.
  private static func pad(_ text: String, _ width: Int) -> String {
    let safe = String(printable: text.utf8)
    return safe + String(repeating: " ", count: max(0, width - safe.count))
  }
}
