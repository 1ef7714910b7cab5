import LogRecords
import Platform
import SessionLog
import SessionReading

/// A column of `tidemark list`: its content and its sort order.
enum ListColumn: String, CaseIterable {
  case session, start, duration, status, size, uploaded, app, where_ = "where", user, device, note

  /// Data for a column besides the session.
  struct View {
    let now: Timestamp
    let zone: LocalZone
  }

  var column: Table.Column {
    switch self {
    case .session, .start, .status: .init(name: rawValue)
    case .duration: .init(name: rawValue, shortTitle: "time", isRight: true, rank: 2)
    case .size: .init(name: rawValue, isRight: true, rank: 1)
    case .uploaded: .init(name: rawValue, shortTitle: "up", isRight: true, rank: 3)
    case .app: .init(name: rawValue, least: 8)
    case .where_: .init(name: rawValue, rank: 6)
    case .user: .init(name: rawValue, least: 6, rank: 4)
    case .device: .init(name: rawValue, least: 6, rank: 5)
    case .note: .init(name: rawValue, least: 12, rank: 3)
    }
  }

  func cell(_ entry: SessionCatalog.Entry, _ view: View) -> Table.Cell {
    let sidecar = entry.sidecar
    switch self {
    case .session:
      let id = entry.session.description
      return .init(id, short: id.split(separator: "-").last.map(String.init))
    case .start:
      let start = view.zone.text(sidecar.startedAt)
      return .init(start, short: String(start.dropLast(3)))
    case .duration: return .init(Age.compact(Self.duration(entry, now: view.now)))
    case .status: return Self.status(entry, now: view.now)
    case .size: return .init(entry.length.byteCount.text)
    case .uploaded: return .init(Self.uploaded(entry))
    case .app: return .init(Self.line(sidecar.appName))
    case .where_: return .init(entry.location.rawValue)
    case .user: return .init(Self.line(sidecar.userId))
    case .device: return .init(Self.line(sidecar.deviceName))
    case .note: return .init(Self.note(entry))
    }
  }

  /// A sidecar from the store contains untrusted text.
  private static func line(_ text: String) -> String { String(oneLine: text) }

  /// The session's duration so far.
  static func duration(_ entry: SessionCatalog.Entry, now: Timestamp) -> Duration {
    let end = entry.sidecar.endedAt ?? (entry.isRunning ? now : entry.lastActivity)
    return max(.zero, end - entry.sidecar.startedAt)
  }

  /// Whether the session is running, or how it ended; readable without colours.
  private static func status(_ entry: SessionCatalog.Entry, now: Timestamp) -> Table.Cell {
    let sidecar = entry.sidecar
    let cause = sidecar.cause?.shortText
    func cell(_ mark: String, _ brief: String, _ colour: Console.Colour?) -> Table.Cell {
      let long = cause.map { " \($0)" } ?? (sidecar.status == .active ? " \(brief)" : "")
      return .init(
        "\(mark) \(sidecar.status.rawValue)\(long)", short: "\(mark) \(brief)", colour: colour)
    }
    switch sidecar.status {
    case .active:
      let silent = now - entry.lastActivity
      if silent >= .hours(1) { return cell(" ", "silent \(Age.compact(silent))", .green) }
      return entry.isRunning
        ? .init("● ACTIVE", short: "● active", colour: .green)
        : .init("  ACTIVE", short: "  active", colour: .green)
    case .terminated:
      let hasFailed = sidecar.cause?.isFailure == true
      return cell(hasFailed ? "!" : " ", cause ?? "ended", hasFailed ? .yellow : nil)
    case .crashed: return cell("✖", cause ?? "crashed", .red)
    }
  }

  private static func uploaded(_ entry: SessionCatalog.Entry) -> String {
    if entry.isReaped { return "reaped" }
    if entry.sidecar.withholdsLog && entry.uploaded == 0 { return "-" }
    let length = Int64(entry.length)
    return length == 0 ? "100 %" : "\(Int64(entry.uploaded) * 100 / length) %"
  }

  private static func note(_ entry: SessionCatalog.Entry) -> String {
    guard entry.sidecar.withholdsLog else { return "" }
    let what = entry.uploaded == 0 ? "log not sent" : "log sent only so far"
    return "\(what) (consent: metadata)"
  }
}

extension ExitCause {
  /// `SIGSEGV` for `signal 11 (SIGSEGV)`; otherwise the same.
  var shortText: String {
    if case .signal(let number) = self { return ExitCause.name(ofSignal: number) }
    return description
  }
}

extension SessionCatalog.Entry {
  /// Whether the remote copy was deleted on purpose, by retention or by a person, and is gone.
  var isReaped: Bool { remote == nil && sidecar.remoteReapedAt != nil }
}
