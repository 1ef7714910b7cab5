import Fleet
import Foundation
import Logging
import Platform
import SessionLog
import Sync

/// Commands and URLs that a home's configuration names for good and bad events.
struct HookSettings {
  /// Run when a session has crashed; nil for none.
  var onCrash: [String]?
  /// Run when nothing has reached the store for `stale-after`; nil for none.
  var onStale: [String]?
  /// Requested after each successful upload.
  var heartbeat: Webhook?

  /// Whether nothing is configured.
  var isEmpty: Bool { onCrash == nil && onStale == nil && heartbeat == nil }
}

/// Runs a home's commands, as the home's owner.
///
/// Commands have limits of their own: each is killed after ``commandLimit``, and no further crash
/// is reported once ``CrashReporter/limit`` has passed. They do not count against the budget of an
/// upload that root has started for the home.
struct Hooks {
  private let setup: CommandContext
  private var hooks: HookSettings { setup.settings.hooks }
  /// Sessions unsealed before the upload.
  private let open: [SessionID]

  /// Time limit of a command; then it is killed with everything it has started.
  private static let commandLimit = Duration.seconds(30)
  /// The longest time an upload waits for commands: for those of crashes, before and after it, and
  /// for the one of a stall.
  static let longest = CrashReporter.limit + CrashReporter.limit + commandLimit * 3

  /// Records the sessions to check; call it before the upload, which may seal them.
  init(_ setup: CommandContext) {
    self.setup = setup
    open = setup.settings.hooks.onCrash == nil ? [] : (try? setup.home.openSessions()) ?? []
  }

  private var path: String { setup.home.path + "/hooks.json" }

  /// Reports crashes: of sessions that were open, and of one that has just ended.
  ///
  /// Each crash is reported once, whichever process comes first.
  func reportCrashes(besides session: SessionID? = nil) async {
    guard hooks.onCrash != nil else { return }
    await asOwner {
      let telling = CrashReporter(path, .current)
      let sessions = Set(try open + [session].compactMap(\.self) + telling.waiting())
      guard !sessions.isEmpty, let command = try command(hooks.onCrash, .crashCommand),
        let lock = try lock()
      else { return }
      defer { withExtendedLifetime(lock) {} }
      let crashed = try CrashedSessions.find(
        Array(sessions), in: setup.home, device: setup.device, machine: .current)
      let waiting = try await telling.report(crashed) { sidecar in
        try await run(command, "crash", HookInput(crash: sidecar), session: sidecar.sessionId)
      }
      if waiting > 0 {
        Console.complain("on-crash took too long: the next upload reports \(waiting) more")
      }
    }
  }

  /// Reports that nothing reaches the store; call it after the upload.
  func reportStall() async {
    guard hooks.onStale != nil, setup.sends else { return }
    await asOwner {
      let context = try setup.context()
      let entry = try context.storeEntry()
      guard let command = try command(hooks.onStale, .staleCommand), let lock = try lock() else {
        return
      }
      defer { withExtendedLifetime(lock) {} }
      let known = try HookState.load(path)
      var state = known ?? HookState()
      let plan = try Uploader(context).plan()
      let growth = try setup.growth(found: setup.attacher(context), besides: plan)
      let waits = plan.waits(besides: growth, consent: setup.consent)
      let isStale = entry.isStale(after: setup.settings.staleAfter, at: .now(), waits: waits)
      if state.isStaleDue(isStale, at: .now()) {
        let input = HookInput(
          staleSince: entry.lastSuccess, entry.lastError.map { "\($0)" }, device: setup.device)
        try await run(command, "stale", input, session: nil)
      }
      if state != known, known != nil || isStale { try state.save(path) }
    }
  }

  private func asOwner(_ body: () async throws -> Void) async {
    do {
      try await setup.home.withOwnersRights(body)
    } catch {
      Console.complain("\(setup.home.path): \(error)")
    }
  }

  /// Requests the heartbeat's URL.
  func beat() async {
    guard let url = hooks.heartbeat else { return }
    guard let transport = try? setup.settings.storeSettings.alertTransport(),
      let error = await Heartbeat(transport).ping(url)
    else { return }
    setup.logger.warning("heartbeat: \(error)")
    if Console.errorIsTerminal { Console.complain("heartbeat: \(error)") }
  }

  private func lock() throws -> FileLock? { try FileLock.tryExclusive(path + ".lock") }

  /// The command, if it may be run: root runs no command that another user has configured.
  private func command(_ command: [String]?, _ kind: HourlyReport.Kind) throws -> [String]? {
    guard let command, Account.hasRootsRights || setup.home.owner != nil else { return command }
    guard setup.settings.isOursAlone else {
      let key = kind == .crashCommand ? "on-crash" : "on-stale"
      let problem = "\(setup.home.configurationPath) is not root's alone: '\(key)' is not run"
      if HourlyReport(setup.home, kind).isDue(problem, at: .now()) { Console.complain(problem) }
      return nil
    }
    return command
  }

  private func run(
    _ command: [String], _ event: String, _ input: HookInput, session: SessionID?
  ) async throws {
    var words = command
    var relay: (@Sendable ([UInt8]) -> Void)?
    var environment = setup.home.owner.map(Self.environment) ?? setup.environment
    // Children do not inherit assumed rights.
    if let owner = setup.home.owner, Account.current.isRoot, !owner.isRoot {
      words = [Console.ownPath, "run-as", owner.name, "--"] + command
      // This program itself may need it to start.
      environment["LD_LIBRARY_PATH"] = setup.environment["LD_LIBRARY_PATH"]
      // The owner can take part in whatever the command does. Of root's own descriptors it gets none.
      let name = owner.name
      relay = { for line in Self.lines($0, of: event, for: name) { Console.complain(line) } }
    }
    environment["TIDEMARK_HOOK"] = event
    environment["TIDEMARK_HOOK_SESSION"] = session?.description
    let bounded = BoundedCommand(
      words, environment: environment, input: try input.json(), limit: Self.commandLimit,
      on: .current, relay: relay)
    let ending: BoundedCommand.Ending
    if let budget = HomeProcess.imposed {
      ending = try await budget.suspended { await bounded.run() }
    } else {
      ending = await bounded.run()
    }
    if let failure = ending.failure(of: command) { Console.complain("on-\(event): \(failure)") }
  }

  /// The output of a command in lines that name the user who may have written them.
  static func lines(_ output: [UInt8], of event: String, for user: String) -> [String] {
    let lines = output.split(separator: UInt8(ascii: "\n"))
    let shown = lines.prefix(mostLines).map { line in
      String(oneLine: String(decoding: line.prefix(4096), as: UTF8.self), limit: longestLine)
    }
    let rest = lines.count > mostLines ? ["and \(lines.count - mostLines) more lines"] : []
    return (shown + rest).map { "on-\(event) of \(user): \($0)" }
  }

  /// Maximum number of lines of a command's output, and of characters of each.
  private static let (mostLines, longestLine) = (20, 400)

  /// The environment for a command in root's configuration: root's own may contain passwords, which
  /// the session's owner could read there.
  private static func environment(of account: Account) -> [String: String] {
    [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": account.home ?? "/", "USER": account.name,
      "LOGNAME": account.name,
    ]
  }
}
