import ArgumentParser
import Foundation
import ObjectStore
import Replica
import SessionLog
import Sync

/// `tidemark status`.
struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say where everything is, what is not yet uploaded, and what went wrong.",
    discussion: """
      Exit code 75 when there are bytes to send and nothing could be sent for 'stale-after'. With \
      --json: user, home, configuration, store, deviceId, openSessions, unsentBytes, localBytes, \
      lastSuccess, stale, problems. Where root serves all users, it is told of each of them, and \
      there is one object a user.
      """)

  @Flag(help: "One JSON object.")
  var json = false

  private struct Report: Encodable {
    let user: String?
    let home: String
    let configuration: String
    let store: String?
    let deviceId: String
    let openSessions: Int
    let unsentBytes: Int64
    let localBytes: Int64
    let lastSuccess: Timestamp?
    let stale: Bool
    let problems: [String: String]
  }

  func run() async throws {
    var isStale = false
    for (index, place) in try Workplace.all().enumerated() {
      let report = try await place.asOwner { try self.report(on: place) }
      if index > 0 && !json { Console.say() }
      if json { Console.say(try Console.json(report)) } else { show(report, place) }
      isStale = isStale || report.stale
    }
    if isStale { throw ExitStatus.tryLater }
  }

  private func report(on place: Workplace) throws -> Report {
    let context = try place.contextIfReadable()
    var problems: [String: String] = [:]
    for (session, reason) in try Quarantine(place.home).held() {
      problems[session.description] = reason
    }
    let plan = try context.map { try Uploader($0).plan() }
    for held in plan?.held ?? [] where held.isProblem {
      problems[held.session.description] = held.reason
    }
    if let context, !place.sources.isEmpty {
      problems.merge(try Attacher(context, sources: place.sources).problems()) { first, _ in first }
    }
    let entry = try context?.manifest.storeEntry()
    let unsent = try plan.map { plan in
      try plan.unsent + plan.held.reduce(0) { try $0 + Self.length(of: $1.session, place.home) }
    }
    return Report(
      user: place.home.owner?.name, home: place.home.path,
      configuration: place.home.configurationPath, store: context?.store.location,
      deviceId: place.device.deviceId, openSessions: try place.home.openSessions().count,
      unsentBytes: unsent ?? 0, localBytes: try place.home.sessionBytes(),
      lastSuccess: entry?.lastSuccess, stale: isStale(entry, unsent: unsent ?? 0, place),
      problems: problems)
  }

  private static func length(of session: SessionID, _ home: Home) throws -> Int64 {
    do {
      return try LogFile(home.files(for: session)).status().length
    } catch let error as SystemError where error.isNotFound {
      return 0
    }
  }

  private func isStale(_ entry: StoreEntry?, unsent: Int64, _ place: Workplace) -> Bool {
    guard let entry, unsent > 0, let since = entry.lastSuccess ?? entry.failingSince else {
      return false
    }
    return Timestamp.now().milliseconds - since.milliseconds >= place.settings.staleAfter * 1000
      && entry.failingSince != nil
  }

  private func show(_ report: Report, _ place: Workplace) {
    if let user = report.user { Console.say("user           \(user)") }
    let noStore =
      place.isServedByRoot
      ? "root's, who sends these sessions" : "none; 'tidemark init URL' names one"
    Console.say("home           \(report.home)")
    Console.say("configuration  \(report.configuration)")
    Console.say("store          \(report.store ?? noStore)")
    Console.say("device         \(report.deviceId)")
    Console.say("on this disk   \(Console.size(report.localBytes))")
    Console.say("not sealed     \(report.openSessions) sessions")
    guard !place.isServedByRoot else { return }
    Console.say("not uploaded   \(Console.size(report.unsentBytes))")
    let success = report.lastSuccess.map {
      "\($0) (\(Age.text((Timestamp.now().milliseconds - $0.milliseconds) / 1000)) ago)"
    }
    Console.say("last success   \(success ?? "never")")
    for (session, reason) in report.problems.sorted(by: { $0.key < $1.key }) {
      Console.say(Console.paint("problem        \(session): \(reason)", .yellow))
    }
    if report.stale {
      Console.say(Console.paint("STALE: nothing could be sent for too long", .red))
    }
  }
}
