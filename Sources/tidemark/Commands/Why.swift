import ArgumentParser
import Platform
import SessionLog
import SessionReading
import Sync

/// `tidemark why ID`.
struct Why: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Show what this home has deleted of a session, when, and on what evidence.",
    discussion: """
      Reads the ledger of deletions, which goes back a year. What other devices or people deleted is \
      not in it. Exit code 1 when nothing is known of the session. With --json one object a line: \
      at, session, copy (local, remote or trash), what, bytes, isInTrash, ground (proven, replaced, \
      expired, asked, or lost where a repair gave up what was missing already), finding, failure (where it did not succeed).

      Examples:
        tidemark why k3f9a7c2
      """)

  @Argument(
    help: "The session; its id may be shortened.", completion: .custom(SessionCompletion.ids))
  var id: String
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger(), isNeeded: false)
    let wanted = try ShortenedID(id)
    let entries = try DeletionLedger(setup.home).entries(where: wanted.matches)
    let lived = try setup.lived(nil)
    let trash = try Trash(setup.home)
      .sessions(at: lived.time.mark) { Console.complain(String(oneLine: $0)) }
      .filter { wanted.matches($0.key) }
    let local = try local(setup, wanted)
    let sessions = Set(entries.map(\.session) + trash.keys + local).sorted()
    if json {
      for entry in entries { Console.say(try Console.json(entry)) }
      if sessions.isEmpty { throw ExitStatus.partial }
      return
    }
    for session in sessions {
      Console.say("\(session)")
      for entry in entries where entry.session == session {
        Console.say(ReportLine("  \(Self.text(entry, zone.zone))"))
      }
      if let age = trash[session] {
        // The trash records only the day.
        let how = age < .days(1) ? "less than a day" : Age.text(age)
        Console.say(
          ReportLine(
            "  Moved to the trash \(how) ago; 'tidemark restore \(session)' puts it back."))
      }
      let held = Holds(setup.home).isHeld(session, at: lived.time) ? ", and kept" : ""
      if local.contains(session) { Console.say("  On this machine\(held).") }
    }
    guard sessions.isEmpty else { return }
    Console.complain(
      "no deletions of '\(String(oneLine: id, limit: 80))' recorded in the last year")
    throw ExitStatus.partial
  }

  /// Sessions with a local copy.
  private func local(_ setup: CommandContext, _ wanted: ShortenedID) throws -> [SessionID] {
    try setup.home.sessions().filter(wanted.matches)
  }

  /// An entry in one line, whatever the home's owner may have written into the ledger.
  static func text(_ entry: DeletionLedger.Entry, _ zone: LocalZone) -> String {
    let at = zone.textWithOffset(entry.at)
    let size = entry.bytes.map { " (\($0.text))" } ?? ""
    let verb =
      entry.ground == .lost
      ? "given up" : entry.isInTrash == true ? "moved to the trash" : "deleted"
    let copy =
      switch entry.copy {
      case .local: "local \(entry.what)"
      case .remote: "\(entry.what) in the store"
      case .trash: "\(entry.what) in the trash"
      }
    let outcome =
      entry.failure.map { " not deleted: \($0)" }
      ?? "\(size) \(verb). \(entry.ground.rawValue): \(entry.finding)"
    return String(oneLine: "\(at)  \(copy)\(outcome)")
  }
}
