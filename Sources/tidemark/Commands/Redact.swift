import ArgumentParser
import Foundation
import LogRecords
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import Sync
import TidemarkUpload

/// `tidemark redact`.
struct Redact: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redact",
    abstract: "Show what redaction masks before logs leave this machine.",
    discussion: """
      --preview searches the local logs and prints every place that the rules mask, with \
      the lines around it; nothing is changed. Secrets are shown masked, as they leave. \
      Try a rule before you configure it: write 'redact:' with it into a file and name that with \
      --rules.

      --apply-remote redacts what was sent under earlier rules: each of this device's sessions in which \
      the configured rules mask anything differently gets a new generation, of which only the segments \
      concerned are sent. What they replace is deleted once the session is sealed, by this call or by an \
      upload, and by a later call if it comes back, such as from a backup. A call that could not send \
      everything is continued by the next. Exit code 1 when some session cannot be redacted, also \
      because only the store has it, or something that the store has cannot be checked or deleted.

      With --json one object a line: of --preview each place (log, kind, offset, length, line, text) or, \
      with --count, each log (log, redacted); of --apply-remote each session (session, segments, bytes).

      Examples:
        tidemark redact --preview --since today
        tidemark redact --preview --file app.log --rules new-rules.yaml
        tidemark redact --apply-remote --dry-run
      """)

  @Flag(help: "Show what would be masked.")
  var preview = false
  @Flag(help: "Redact what is in the store by the configured rules.")
  var applyRemote = false
  @Flag(help: "With --apply-remote: send nothing; print what would be re-sent.")
  var dryRun = false
  @Argument(
    help: "The sessions; by default all on this machine.",
    completion: .custom(SessionCompletion.ids))
  var ids: [String] = []
  @OptionGroup var choice: ChoiceOptions
  @OptionGroup var span: SpanOptions
  @Option(
    help: ArgumentHelp("Instead of sessions: a file, or - for standard input."),
    completion: .file())
  var file: String?
  @Option(
    help: ArgumentHelp(
      "Take 'redact:' from this file instead of the configuration.", valueName: "file"),
    completion: .file())
  var rules: String?
  @Flag(help: "Only count, by kind.")
  var count = false
  @Flag(help: "Show the secrets themselves; at a terminal only.")
  var showSecrets = false
  @Flag(help: "One JSON object a line: each place, or with --count each log.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    guard preview != applyRemote else {
      throw ValidationError("Say what to do: --preview or --apply-remote.")
    }
    if !ids.isEmpty || file != nil, isChoosing {
      throw ValidationError(
        "Use either session ids or selection options, not both.")
    }
    if applyRemote, file != nil || rules != nil || count || showSecrets {
      throw ValidationError("--apply-remote uses the configured rules; it takes sessions only.")
    }
    if dryRun, preview { throw ValidationError("--preview changes nothing anyway.") }
    if file != nil, !ids.isEmpty { throw ValidationError("Name sessions or --file, not both.") }
    if showSecrets, !Console.outputIsTerminal || json {
      throw ValidationError("--show-secrets is for a terminal: nowhere else are secrets written.")
    }
  }

  private var isChoosing: Bool { choice.isChoosing || span.isChoosing }

  private func includes(_ entry: SessionCatalog.Entry) -> Bool {
    owner.includes(entry) && choice.includes(entry) && span.includes(entry)
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger())
    try choice.devices.expectOwn(setup, "redact")
    if applyRemote { return try await apply(setup) }
    let settings = try rules.map { try Settings(path: Self.existing($0)) } ?? setup.settings
    let redactor = try Redactor(settings.redaction)
    if let file {
      try await show(file == "-" ? "standard input" : file, .asIs, redactor) { body in
        try Self.read(file, body)
      }
      return
    }
    let catalog = SessionCatalog(try setup.reading(with: nil))
    let devices = [setup.device.deviceId]
    let entries =
      ids.isEmpty
      ? try await catalog.entries(devices: devices, activeSince: span.since)
        .filter(includes).filter(\.hasLocalLog)
      : try await catalog.entries(matching: ids, devices: devices)
    for entry in entries.reversed() {
      let log = try catalog.openLog(entry)
      let available = try log.available()
      try await show(entry.session.description, entry.sidecar.format, redactor) { body in
        try log.forEachPiece(of: available, body)
      }
    }
  }

  // MARK: Applying

  private func apply(_ setup: CommandContext) async throws {
    let lock = try setup.requireLock(unless: dryRun)
    let context = try setup.context()
    guard context.consent == .logs else {
      throw Failure(
        .authentication,
        "consent is 'metadata' in \(setup.home.configurationPath): no log is sent or re-sent")
    }
    let catalog = SessionCatalog(try setup.reading(with: nil))
    let devices = [setup.device.deviceId]
    let entries =
      ids.isEmpty
      ? try await catalog.entries(devices: devices, activeSince: span.since).filter(includes)
      : try await catalog.entries(matching: ids, devices: devices)
    let pass = RemoteRedactionPass(context)
    var refused: Set<SessionID> = []
    let items = try await pass.plan(entries.reversed().map(\.session)) { session, reason in
      refused.insert(session)
      Console.complain("\(session): \(reason)")
    }
    var failed = !refused.isEmpty
    let others = Set(entries.map(\.session)).subtracting(refused)
    if try await reportFormer(setup, context, of: others) { failed = true }
    if ids.isEmpty {
      if try await reportUnchecked(setup, context) { failed = true }
      if try await reportAway(setup, context) { failed = true }
    }
    let begun = Set(items.map(\.session))
    let replaced = try await pass.replaced(
      entries.map(\.session).filter { !begun.contains($0) })
    var left: [SessionID: Int] = [:]
    if let lock, !items.isEmpty || !replaced.isEmpty {
      let report = try await pass.run(items, removing: Array(replaced.keys), holding: lock)
      try say(items.filter { report.hasFinished($0.session) })
      for (session, reason) in report.supersededLeft.sorted(by: { $0.key < $1.key }) {
        Console.complain("\(session): the objects sent before could not be deleted: \(reason)")
      }
      for failure in report.failures { Console.complain("\(failure.session): \(failure.error)") }
      if let error = report.stoppedBy { throw error }
      // What was deleted is what the store no longer lists.
      left = try await pass.replaced(begun.sorted() + replaced.keys)
      failed =
        failed || !report.failures.isEmpty || !report.supersededLeft.isEmpty || !left.isEmpty
    } else {
      try say(items)
    }
    for session in Set(replaced.keys).union(left.keys).sorted() {
      sayReplaced(replaced[session] ?? 0, left: left[session] ?? 0, of: session)
    }
    if items.isEmpty, replaced.isEmpty, !failed {
      Console.remark("the current rules change nothing in the store")
    }
    if failed { throw ExitStatus.partial }
  }

  /// Names the segments of a session that a redaction replaced, and what became of them.
  ///
  /// - Parameters:
  ///   - count: those that an earlier redaction left.
  ///   - left: those that could not be deleted.
  private func sayReplaced(_ count: Int, left: Int, of session: SessionID) {
    let deleted = count - left
    if deleted > 0 {
      Console.complain(
        "\(session): \(Plural.text(deleted, "segment")) that a redaction replaced "
          + "\(deleted == 1 ? "was" : "were") in the store, \(dryRun ? "to be deleted" : "now deleted")"
      )
    }
    if left > 0 {
      Console.complain(
        "\(session): \(Plural.text(left, "segment")) that a redaction replaced "
          + "\(left == 1 ? "is" : "are") still in the store: run this again, or remove the copy with "
          + "'tidemark delete --remote \(session)'")
    }
  }

  /// Names the sessions that cannot be checked, because the store has log bytes of them and no sidecar.
  ///
  /// - Returns: whether there are any.
  private func reportUnchecked(
    _ setup: CommandContext, _ context: SyncContext
  ) async throws -> Bool {
    let catalog = SessionCatalog(try setup.reading(with: context))
    let local = try Set(setup.home.sessions())
    let found = try await catalog.undescribed(of: [setup.device.deviceId], besides: local)
    PassedOverSessions(sessions: found).report()
    return !found.isEmpty
  }

  /// Maximum number of sessions to name.
  private static let mostNamed = 5

  /// Names the sessions that only the store has, and that were sent under other rules.
  ///
  /// - Returns: whether there are any.
  private func reportAway(_ setup: CommandContext, _ context: SyncContext) async throws -> Bool {
    let local = try Set(setup.home.sessions())
    let away = try await outdated(setup, context, of: setup.device.ids) { !local.contains($0) }
    guard !away.isEmpty else { return false }
    Console.complain(
      "\(Plural.text(away.count, "session")) that only the store has \(away.count == 1 ? "was" : "were") "
        + "sent under other rules, or cannot be read, and cannot be redacted without the log: "
        + "'tidemark restore ID' brings one back, 'tidemark delete --remote ID' removes it: "
        + Self.names(away.map(\.session.description)))
    return true
  }

  /// Names the copies of sessions that were sent under a former device id and other rules: nothing is
  /// sent under that any more.
  ///
  /// - Returns: whether there are any.
  private func reportFormer(
    _ setup: CommandContext, _ context: SyncContext, of sessions: Set<SessionID>
  ) async throws -> Bool {
    let former = setup.device.ids.filter { $0 != setup.device.deviceId }
    guard !former.isEmpty else { return false }
    let copies = try await outdated(setup, context, of: former) { sessions.contains($0) }
    guard !copies.isEmpty else { return false }
    Console.complain(
      "\(Plural.text(copies.count, "copy", "copies")) that this home sent under a former device id, "
        + "under other rules or no longer readable, cannot be redacted; 'tidemark delete --remote DEVICE/ID' removes one: "
        + Self.names(copies.map(\.deviceSession.name)))
    return true
  }

  /// What the store has under device ids that was sent under other rules, or cannot be read.
  private func outdated(
    _ setup: CommandContext, _ context: SyncContext, of devices: [String],
    including isWanted: @escaping (SessionID) -> Bool
  ) async throws -> [SessionCatalog.Entry] {
    let redaction = RemoteRedaction(context)
    return try await SessionCatalog(setup.reading(with: context)).entries(
      devices: devices, includesLocal: false, activeSince: span.since, including: isWanted
    ).filter { entry in
      let isOutdated = redaction.isOutdated(entry.sidecar, sent: entry.uploaded)
      return includes(entry) && (entry.isRejected || isOutdated)
    }
  }

  private static func names(_ all: [String]) -> String {
    let more = all.count > mostNamed ? " and \(all.count - mostNamed) more" : ""
    return all.prefix(mostNamed).joined(separator: ", ") + more
  }

  private func say(_ items: [RemoteRedaction.Item]) throws {
    for item in items {
      let sent = Resent(session: item.session, segments: item.segments, bytes: item.bytes)
      Console.say(
        json
          ? try Console.json(sent)
          : "\(item.session): \(Plural.text(item.segments, "segment")), \(item.bytes.text), "
            + (dryRun ? "would be re-sent" : "re-sent") + former(item))
    }
  }

  /// What is deleted besides, because it cannot be masked.
  private func former(_ item: RemoteRedaction.Item) -> String {
    guard !item.former.isEmpty else { return "" }
    let streams = item.former.map { "generation \($0.generation) (\($0.length.byteCount.text))" }
    return "; what the file held before, \(streams.joined(separator: ", ")), "
      + (dryRun ? "would be deleted" : "is deleted after the seal")
  }

  private struct Resent: Encodable {
    let session: SessionID
    let segments: Int
    let bytes: ByteCount
  }

  // MARK: Files

  private static func existing(_ path: String) throws -> String {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Failure(.configuration, "\(path) does not exist")
    }
    return path
  }

  private static func read(_ path: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard let file = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path) else {
      throw Failure(.usage, "cannot read \(path)")
    }
    while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
      try piece.withUnsafeBytes(body)
    }
  }

  // MARK: Output

  private typealias Body = (UnsafeRawBufferPointer) throws -> Void

  private func show(
    _ name: String, _ format: LogFormat, _ redactor: Redactor, _ read: (Body) throws -> Void
  ) async throws {
    var scan = RedactionScan(redactor, format)
    var counts: [String: Int] = [:]
    func add(_ hit: RedactionScan.Hit) throws {
      if counts.isEmpty, !count, !json {
        Console.say(painted: Console.paint(String(oneLine: name), .bold))
      }
      counts[hit.kind, default: 0] += 1
      if !count { try json ? sayJSON(hit, in: name) : say(hit) }
    }
    try read { try scan.add($0, add) }
    try scan.finish(add)
    if json {
      if count { Console.say(try Console.json(Total(log: name, redacted: counts))) }
    } else if !counts.isEmpty || file != nil || !ids.isEmpty {
      let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let text = kinds.isEmpty ? "nothing to mask" : kinds.joined(separator: ", ")
      Console.say("\(name): \(text)")
    }
  }

  private func say(_ hit: RedactionScan.Hit) {
    func line(_ number: Int, _ text: String, _ mark: String) {
      Console.say(painted: "\(mark) \(number): \(text)")
    }
    if let before = hit.before { line(hit.line - 1, String(printable: before), " ") }
    let head = String(printable: hit.text[..<hit.mask.lowerBound])
    let secret = showSecrets ? hit.secret : Array(hit.text[hit.mask])
    let tail = String(printable: hit.text[hit.mask.upperBound...])
    line(hit.line, head + Console.paint(String(printable: secret), .red) + tail, ">")
    if let after = hit.after { line(hit.line + 1, String(printable: after), " ") }
  }

  private struct Total: Encodable {
    let log: String
    let redacted: [String: Int]
  }

  private struct Place: Encodable {
    let log: String
    let kind: String
    let offset: Int64
    let length: Int
    let line: Int
    let text: String
  }

  private func sayJSON(_ hit: RedactionScan.Hit, in name: String) throws {
    let setup = Place(
      log: name, kind: hit.kind, offset: hit.offset, length: hit.secret.count, line: hit.line,
      text: String(decoding: hit.text, as: UTF8.self))
    Console.say(try Console.json(setup))
  }
}
