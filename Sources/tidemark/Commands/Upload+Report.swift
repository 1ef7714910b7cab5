import ArgumentParser
import Foundation
import ObjectStore
import Platform
import SessionLog
import Sync
import TidemarkUpload

/// What an upload prints: its plan, its events, and the result of each pass.
extension Upload {
  struct Planned: Encodable {
    struct Session: Encodable {
      let session: SessionID
      let logBytes: ByteCount
      let consent: Consent
      let ends: SessionStatus?
    }

    let user: String?
    let attached: [String]
    let sessions: [Session]
    let held: [String: String]
    let logBytes: ByteCount
  }

  /// Prints the plan of an upload.
  func show(_ preview: UploadPass.Preview, of home: Home) throws -> ExitStatus {
    let plan = preview.upload
    if json {
      let sessions = plan.items.map {
        Planned.Session(
          session: $0.session, logBytes: $0.unsent, consent: $0.consent, ends: $0.verdict?.status)
      }
      let held = plan.skipped.map { ($0.session.description, $0.reason) }
      Console.say(
        try Console.json(
          Planned(
            user: home.owner?.name, attached: preview.attached, sessions: sessions,
            held: Dictionary(held) { first, _ in first },
            logBytes: plan.unsent + preview.attachedBytes)))
      return .ok
    }
    for line in Self.lines(of: preview) { Console.say(line) }
    return .ok
  }

  /// Sums up an upload.
  static func line(
    log: ByteCount, stored: ByteCount, objects: Int, sealed: Int, reaped: Int
  ) -> ReportLine {
    ReportLine(
      "sent \(log.text) of log as \(stored.text) in \(Plural.text(objects, "object")), "
        + "sealed \(Plural.text(sealed, "session")), reaped \(reaped)")
  }

  /// Describes the plan of an upload.
  static func lines(of preview: UploadPass.Preview) -> [ReportLine] {
    let plan = preview.upload
    var lines: [ReportLine] = []
    func add(_ text: String) { lines.append(ReportLine(text)) }
    for line in preview.attached { add(line) }
    for item in plan.items {
      let log =
        item.sent == nil ? "checks the store, sends up to \(item.unsent.text)" : item.unsent.text
      let what = item.consent == .metadata ? "metadata only" : log
      let end = item.verdict.map { ", then seals (\($0.status.rawValue))" } ?? ""
      add("\(item.session)  \(what)\(end)")
    }
    for session in plan.superseded {
      add("\(session)  deletes what its seal has made obsolete")
    }
    for held in plan.skipped { add("\(held.session)  skipped: \(held.reason)") }
    // Without a listing, it is unknown how much of a session the store has.
    let most = plan.items.contains { $0.sent == nil && $0.unsent > 0 } ? "up to " : ""
    let bytes = plan.unsent + preview.attachedBytes
    if plan.items.isEmpty, preview.attached.isEmpty {
      add("nothing to upload")
    } else {
      let parts = [(plan.items.count, "session"), (preview.attached.count, "attached log")]
      let what = parts.filter { $0.0 > 0 }.map { Plural.text($0.0, $0.1) }
      add("\(what.joined(separator: " and ")), \(most)\(bytes.text) of log to send")
    }
    return lines
  }

  struct Summary: Encodable {
    let user: String?
    let logBytes: ByteCount
    let storedBytes: ByteCount
    let objects: Int
    let sealed: Int
    let reaped: Int
    let formerDevices: [String: Int]
    let failures: [String: String]
    let leftBehind: [String: String]
    let error: String?
    let vanished: [VanishedCopies.Copy]
    let cacheProblem: String?
    let status: Int32
  }

  /// Prints what a person shall know of an event.
  static func say(_ event: UploadPassEvent) {
    switch event {
    case .unreadable(let path, let reason): Console.complain("\(path): \(reason)")
    case .postponed(let postponement):
      // Without a terminal, report it once; `status` shows it as long as it lasts.
      if postponement.isNew || Console.errorIsTerminal {
        Console.complain(Reap.text(postponement))
      }
    case .expiring(let sessions, let notice): Console.complain(expiring(sessions, within: notice))
    case .sealedElsewhere(let count, let store):
      Console.complain(SealedElsewhere.text(count, store))
    case .kept(let problem): Console.complain(problem)
    case .planned, .upload, .uploadEnded: break
    }
  }

  /// A message that the last copies of sessions expire soon, and how to prevent it.
  private static func expiring(_ sessions: [SessionID], within notice: Duration) -> String {
    let named = sessions.prefix(5).map(\.description).joined(separator: ", ")
    let more = sessions.count > 5 ? " and \(sessions.count - 5) more" : ""
    return "last copies expire within \(Age.text(notice)): \(named)\(more); "
      + "'tidemark keep ID' keeps them, 'tidemark pull DIR ID' copies them"
  }

  /// Prints what a pass has done.
  func say(_ pass: UploadPassReport, of home: Home, _ cacheProblem: String?) throws {
    let report = pass.upload
    if json {
      Console.say(try Console.json(Summary(pass, of: home, cacheProblem)))
    }
    let whose = home.owner.map { "\($0.name): " } ?? ""
    for (former, count) in report.formerDevices.sorted(by: { $0.key < $1.key }) {
      Console.complain(whose + Self.resending(count, from: former, as: pass.device))
    }
    for failure in report.failures {
      Console.complain("\(whose)\(failure.session): \(failure.error)")
    }
    for (session, reason) in report.sealedAsSent.sorted(by: { $0.key < $1.key }) {
      Console.complain("\(whose)\(session): \(reason)")
    }
    let reasons =
      Self.reasons(ofPartial: report) + pass.vanished.lines(pass.store)
      + [cacheProblem].compactMap(\.self)
    if !reasons.isEmpty,
      isWatched
        || HourlyReport(home, .partial).isDue(reasons.joined(separator: "\n"), at: .now())
    {
      for reason in reasons { Console.complain(whose + reason) }
    }
    if Console.errorIsTerminal {
      for (session, reason) in report.supersededLeft.sorted(by: { $0.key < $1.key }) {
        Console.complain("\(whose)\(session): obsolete objects stay: \(reason)")
      }
    }
    // A pass over the own home is followed by the next one.
    if isWatched, homeOf != nil, report.isCutShort {
      let rest = report.leftToNextPass.values.total
      let sessions = Plural.text(report.leftToNextPass.count, "session")
      Console.complain("\(whose)\(rest.text) of \(sessions) left to the next upload")
    }
    if let error = report.stoppedBy {
      if pass.isReportDue {
        Console.complain("\(whose)\(error)")
        for sum in WaitingSum.sums(of: report.waiting) where sum.bytes > 0 {
          Console.complain(
            "\(whose)\(sum.bytes.text) not uploaded: \(sum.reason.summary) (\(sum.reason.remedy))")
        }
      }
    } else if Console.outputIsTerminal, !json {
      guard report.objects > 0 || report.sealed > 0 || pass.reaped > 0 else {
        // Report nothing for rounds without work.
        if every == nil, report.failures.isEmpty {
          Console.say(
            "\(whose)\(report.skipped.isEmpty ? "nothing to upload" : "nothing uploaded")")
        }
        return
      }
      Console.say(
        whose
          + Self.line(
            log: report.logBytes, stored: report.storedBytes, objects: report.objects,
            sealed: report.sealed, reaped: pass.reaped
          ).text)
    }
  }

  /// A message that sessions are sent under a different device id than before, and why.
  static func resending(_ count: Int, from former: String, as device: String) -> String {
    let are =
      count == 1
      ? "session recorded as device \(former) is" : "sessions recorded as device \(former) are"
    return "\(count) \(are) sent again as \(device): this home was copied or moved, or lost its "
      + "device.json. What the store has under \(former) stays"
  }
}

extension Upload.Summary {
  /// Sums up a pass over a home.
  init(_ pass: UploadPassReport, of home: Home, _ cacheProblem: String?) {
    let report = pass.upload
    var failures: [String: String] = [:]
    for failure in report.failures { failures[failure.session.description] = "\(failure.error)" }
    self.init(
      user: home.owner?.name, logBytes: report.logBytes, storedBytes: report.storedBytes,
      objects: report.objects, sealed: report.sealed, reaped: pass.reaped,
      formerDevices: report.formerDevices, failures: failures,
      leftBehind: Dictionary(
        uniqueKeysWithValues: report.supersededLeft.map { ($0.key.description, $0.value) }),
      error: report.stoppedBy.map { "\($0)" }, vanished: pass.vanished.copies,
      cacheProblem: cacheProblem, status: Upload.status(of: pass, cacheProblem).rawValue)
  }
}
