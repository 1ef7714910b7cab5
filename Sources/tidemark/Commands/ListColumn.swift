import LogRecords
import Platform
import Replica
import SessionLog
import SessionReading

/// A column of `tidemark list`: its content and its sort order.
enum ListColumn: String, CaseIterable {
  case session, start, duration, status, size, uploaded, app, where_ = "where", user, device, note

  /// Data for a column besides the session.
  struct View {
    let now: Timestamp
    let zone: LocalZone
    /// The location of the queried store; nil if none was queried.
    var store: String?
    /// Until when a session is kept beyond its retention; nil if it is not.
    var keptUntil: (SessionCatalog.Entry) -> Timestamp? = { _ in nil }
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
    case .uploaded: return Self.uploaded(entry, in: view.store)
    case .app: return .init(Self.line(sidecar.appName))
    case .where_: return .init(entry.location.rawValue)
    case .user: return .init(Self.line(sidecar.userId))
    case .device: return .init(Self.line(sidecar.deviceName))
    case .note: return .init(Self.remarks(entry, view))
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
    guard !entry.isRejected else { return .init("? UNKNOWN", short: "? unknown", colour: .red) }
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

  private static func uploaded(_ entry: SessionCatalog.Entry, in store: String?) -> Table.Cell {
    switch entry.remoteCopy(in: store) {
    case .reaped: return "reaped"
    case .missing: return .init("missing", colour: .red)
    case .unsealed: return .init("no seal", colour: .red)
    case .incomplete: return .init("incomplete", short: "part", colour: .red)
    case .elsewhere: return .init("other store", short: "other")
    case .asUploaded: break
    }
    if entry.sidecar.withholdsLog && entry.uploaded == 0 { return "-" }
    let length = Int64(entry.length)
    return .init(length == 0 ? "100 %" : "\(Int64(entry.uploaded) * 100 / length) %")
  }

  private static func remarks(_ entry: SessionCatalog.Entry, _ view: View) -> String {
    var notes: [String] = []
    if entry.isRejected {
      notes.append("its sidecar is damaged, missing or not its device's: see 'verify'")
    }
    if let until = view.keptUntil(entry) { notes.append("kept until \(view.zone.day(until))") }
    if let former = entry.sidecar.former, !former.isEmpty {
      notes.append("rewritten \(former.count == 1 ? "once" : "\(former.count) times")")
    }
    if entry.sidecar.withholdsLog {
      let what = entry.uploaded == 0 ? "log not sent" : "log sent only so far"
      notes.append("\(what) (consent: metadata)")
    }
    return notes.joined(separator: "; ")
  }
}

extension ExitCause {
  /// `SIGSEGV` for `signal 11 (SIGSEGV)`; otherwise the same.
  var shortText: String {
    if case .signal(let number) = self { return ExitCause.name(ofSignal: number) }
    return description
  }
}

/// The remote copy of a session, as a listing of the store shows it.
enum RemoteCopy: Equatable {
  /// As stated by the session, or the store was not queried.
  case asUploaded
  /// Deleted on purpose, by retention or by a person.
  case reaped
  /// Gone, although this device has sent it and not deleted it.
  case missing
  /// Without the seal that this device put: nothing proves that it is whole.
  case unsealed
  /// Without objects that its seal names beside those of the stream: what a rewritten file held
  /// before, or what its newest bytes copy from.
  case incomplete
  /// In another store than the queried one.
  case elsewhere(String)
}

extension SessionCatalog.Entry {
  /// Whether the remote copy was deleted on purpose, by retention or by a person, and is gone.
  var isReaped: Bool { remote == nil && sidecar.remoteReapedAt != nil }

  /// The state of the remote copy.
  ///
  /// - Parameter store: the location of the store whose listing the entry is from; nil for none.
  func remoteCopy(in store: String?) -> RemoteCopy {
    if isReaped { return .reaped }
    guard let store else { return .asUploaded }
    if let remote {
      guard sidecar.remoteReapedAt == nil else { return .asUploaded }
      if location == .both, let seal = sidecar.seal, seal.store == store,
        remote.seal?.fileName != seal.revision
      {
        return .unsealed
      }
      // A local sidecar may be of the seal in another store.
      let isOfThisSeal =
        location == .remote || sidecar.seal?.revision == remote.seal?.fileName
      guard remote.seal != nil, isOfThisSeal, !remote.holds(sidecar.basis ?? []) else {
        return .asUploaded
      }
      return .incomplete
    }
    if let seal = sidecar.seal { return seal.store == store ? .missing : .elsewhere(seal.store) }
    return uploaded > 0 ? .missing : .asUploaded
  }
}
