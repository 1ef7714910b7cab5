import ArgumentParser
import Foundation
import HTTPTransport
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync

/// `tidemark init URL`.
struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a configuration and try the store.",
    discussion: """
      Makes the folder of a file:// store, puts, reads back and deletes a scratch object, and writes \
      tidemark.json, the marker by which uploads know the store; nothing is configured when that \
      fails. A consent that an existing configuration states is kept; otherwise it becomes 'logs'. The login that it used is saved: a password or key of this environment goes into a file \
      (mode 0600) that the configuration names, and the store is read once more as cron will do it, \
      without this environment; exit code 1 when that fails. --no-save leaves the login where it is. \
      Where an upload found that the marker of a store in use is missing, look at the store \
      first: a share may not be mounted. Then --restore-marker puts it back, into the configured \
      store or the one named. \
      Credentials come from the AWS environment variables or profile files, or from \
      TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD. With --machine, root configures the machine \
      for all users: \(MachineWide.configurationPath), and \(MachineWide.statePath)/USER for what \
      each of them records; root's 'tidemark upload' sends it.

      With --json one object: store, configuration, consent, savedFiles, cron (ok, or what is wrong).

      Examples:
        tidemark init s3://bucket/logs
        tidemark init https://cloud.example/remote.php/dav/files/anna/logs
      """)

  @Argument(
    help: ArgumentHelp("s3://bucket/prefix, https://host/dav/folder, or file:///folder."))
  var url: String?

  @Flag(help: "Leave the login in the environment; write no file with a secret.")
  var noSave = false
  @Flag(help: "Write nothing; list the store and print what would be configured.")
  var dryRun = false
  @Flag(help: "One JSON object.")
  var json = false

  @Flag(help: "Put the missing marker back into a store that this home has used.")
  var restoreMarker = false

  @Flag(help: "Configure the machine for all its users; for root.")
  var machine = false

  @Flag(
    help: "Accept http:// to another machine: logs and password are sent unencrypted.")
  var allowPlaintext = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    guard url != nil || restoreMarker else {
      throw ValidationError("Name the store's URL, or --restore-marker for the configured store.")
    }
    if restoreMarker, dryRun || json || noSave {
      throw ValidationError("--restore-marker goes without --dry-run, --json and --no-save.")
    }
  }

  func run() async throws {
    let setup = try self.setup()
    let url = try self.url.map { try setup.storeURL($0) } ?? setup.storeURL()
    let store = try setup.settings.store(at: url, environment: setup.environment)
    let used = try UsedStores.load(setup.home)
    guard !restoreMarker else {
      return try await restore(url, store, isUsed: used.contains(store.location), setup)
    }
    // A person who names a store outranks an unreadable record.
    if used.isKnown && used.contains(store.location) {
      try expectFolder(url)
      try await FormatMarker.check(store, isUsed: true, create: false)
    }
    if case .directory(let path) = url.kind {
      if dryRun, !FileManager.default.fileExists(atPath: path) {
        say("Would make the folder \(path).")
        return try await configure(url, setup)
      }
      if try !dryRun && DirectoryStore(path: path, machine: .current).makeRoot() {
        say("Made the folder \(path).")
      }
    }
    let isThere = try await FormatMarker.isWhole(in: store)
    if dryRun {
      _ = try await store.list("", after: nil)
      return try await configure(url, setup)
    }
    try await probe(store)
    if !isThere { try await FormatMarker.write(to: store) }
    try await configure(url, setup)
  }

  /// Restores the marker of a store that lost it; never creates a missing folder.
  private func restore(
    _ url: StoreURL, _ store: any ObjectStore, isUsed: Bool, _ setup: CommandContext
  ) async throws {
    if isUsed { try expectFolder(url) }
    guard try await !FormatMarker.isWhole(in: store) else {
      return Console.say("\(store.location)/\(FormatMarker.key) is there; nothing was written.")
    }
    guard isUsed || setup.servesAllUsers else {
      throw Failure(
        .configuration, "this home has not used \(store.location); run 'tidemark init \(url)'")
    }
    let lock = try setup.requireLock()
    try await probe(store)
    try await FormatMarker.write(to: store)
    try Uploader(setup.context(store: url)).retryStore(holding: lock)
    Console.say(
      "Wrote \(store.location)/\(FormatMarker.key). No log was restored: run 'tidemark verify'; "
        + "'tidemark verify --repair' sends again what the local logs still have.")
  }

  /// Fails if the folder of a store in use is missing.
  private func expectFolder(_ url: StoreURL) throws {
    guard case .directory(let path) = url.kind, !FileManager.default.fileExists(atPath: path) else {
      return
    }
    throw Failure(
      .configuration,
      "the folder \(path) does not exist, and this home has sent sessions there: mount it. If it is "
        + "gone for good: mkdir \(path), then 'tidemark init --restore-marker \(url)'")
  }

  // MARK: The configuration

  private struct Report: Encodable {
    let store: String
    let configuration: String
    let consent: Consent
    let savedFiles: [String]
    let cron: String?
  }

  /// Prints a line for a person; with JSON, prints nothing.
  private func say(_ line: String) { if !json { Console.say(line) } }

  private func configure(_ store: StoreURL, _ setup: CommandContext) async throws {
    let configuration = setup.home.configurationPath
    let folder = String(
      configuration.dropLast(configuration.split(separator: "/").last?.count ?? 0))
    var login: SavedCredentials?
    if !noSave {
      login = SavedCredentials(
        for: store, environment: setup.environment, in: String(folder.dropLast()))
    }
    let text = try text(store: store.description, login, setup)
    let files = login?.secrets.keys.sorted() ?? []
    // A consent that the configuration states is a person's decision.
    let consent = setup.settings.consent ?? .logs
    if dryRun {
      say("Would write \(configuration) (consent: \(consent.rawValue)).")
      for file in files { say("Would save the login in \(file) (mode 0600).") }
      return try report(store, configuration, consent, files, cron: nil)
    }
    try login?.save()
    try write(text, setup)
    say("Ready: write, read and delete work on \(store).")
    say("Configuration: \(configuration) (consent: \(consent.rawValue))")
    if consent != .logs {
      Console.remark(
        "consent is kept as it was: \(Self.effect(of: consent)); 'consent: logs' sends logs")
    }
    for file in files { say("Login: \(file) (mode 0600)") }
    try sayWhatStays(store, setup)
    if let refusal = login?.refusal { Console.complain(refusal) }

    // Test cron's environment instead of guessing.
    let problem = await problemInCron(store, setup)
    let home =
      EnvironmentReport.isFoundByCron(setup.home) ? "" : "TIDEMARK_HOME=\(setup.home.path) "
    let crontab = setup.home.owner == nil ? "crontab" : "root's crontab"
    say(
      "Next: tidemark run -- PROGRAM   and in \(crontab): * * * * * \(home)\(EnvironmentReport.programInCron) upload"
    )
    let device = SessionFolder.deviceKey(setup.device.deviceId)
    if !json, let grant = NeededRights(store).deviceGrant(device) {
      Console.remark(
        "A login for this device alone needs no more than this policy; without s3:DeleteObject, a stolen "
          + "login destroys nothing where the bucket keeps versions:\n\(grant)")
    }
    try report(store, configuration, consent, files, cron: problem ?? "ok")
    guard let problem else { return }
    let missing = EnvironmentReport.missingInCron().joined(separator: " ")
    Console.complain(
      "cron cannot use the store: \(problem)"
        + (missing.isEmpty ? "" : " Not set in cron: \(missing)."))
    // With `--no-save`, the login is in the environment on purpose.
    if !noSave { throw ExitStatus.partial }
  }

  /// Reports that the store changes, and the consequences for sessions in the former one.
  private func sayWhatStays(_ url: StoreURL, _ setup: CommandContext) throws {
    guard let former = setup.settings.store,
      (try? setup.storeURL(former))?.description ?? former != url.description
    else { return }
    let store = try setup.settings.store(at: url, environment: setup.environment)
    let count = try SealedCopies(setup.home, store: store.location).countElsewhere
    let rest = count > 0 ? " " + SealedElsewhere.text(count, store.location) + "." : ""
    say("Store changed: \(former) is no longer used; its objects stay there.\(rest)")
  }

  private func report(
    _ store: StoreURL, _ configuration: String, _ consent: Consent, _ files: [String], cron: String?
  ) throws {
    guard json else { return }
    Console.say(
      try Console.json(
        Report(
          store: store.description, configuration: configuration, consent: consent,
          savedFiles: files,
          cron: cron)))
  }

  private static func effect(of consent: Consent) -> String {
    consent == .none ? "nothing is uploaded" : "no log is uploaded"
  }

  /// The error when the store is read without this environment; nil if there is none.
  private func problemInCron(_ url: StoreURL, _ setup: CommandContext) async -> String? {
    do {
      let settings = try Settings(path: setup.home.configurationPath)
      let store = try settings.store(
        at: url, environment: EnvironmentReport.environmentInCron(.current), policy: .once)
      guard try await FormatMarker.isWhole(in: store) else { return "its marker is missing." }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func setup() throws -> CommandContext {
    let environment = ProcessInfo.processInfo.environment
    let usual = Home.locate(environment: environment)
    var choice = StoreChoice()
    choice.allowsPlaintext = allowPlaintext
    let logger = try diagnostics.logger()
    guard machine || usual.owner != nil else {
      return try CommandContext(choice: choice, logger: logger)
    }
    guard Account.current.isRoot else {
      throw Failure(
        .authentication,
        "\(MachineWide.configurationPath) is root's to write; set TIDEMARK_HOME to a folder of "
          + "yours for a configuration of your own")
    }
    guard environment["TIDEMARK_HOME"] == nil else {
      throw Failure(.usage, "--machine and TIDEMARK_HOME exclude each other; unset TIDEMARK_HOME")
    }
    try MachineWide.create(on: .current)
    for failed in try MachineWide.makeHomes(on: .current) {
      Console.complain("cannot make the home \(failed.path): \(failed.reason)")
    }
    return try CommandContext(MachineWide.home(of: .current), choice: choice, logger: logger)
  }

  private func probe(_ store: any ObjectStore) async throws {
    let key = "\(FormatMarker.probeFolder)scratch-\(SessionID.make(at: .now(), by: .current))"
    let content = Array("tidemark \(key)\n".utf8)
    let found: [UInt8]
    do {
      _ = try await store.put(key, content)
      found = try await store.get(key)
    } catch {
      // A failed put may have stored the object nevertheless.
      _ = try? await store.delete([key])
      throw error
    }
    if let error = try await store.delete([key]).first?.error { throw error }
    guard found == content else {
      throw ReplicaError(.damagedObject, "\(store.location)/\(key) came back with other bytes")
    }
  }

  /// The new configuration.
  private func text(
    store: String, _ login: SavedCredentials?, _ setup: CommandContext
  ) throws -> String {
    let path = setup.home.configurationPath
    var text: String
    if let written = try ConfigurationFile(path) {
      text = SettingsTemplate.replacing(storeIn: written.text, with: store)
      if setup.settings.consent == nil { text = SettingsTemplate.consentingToLogs(text) }
    } else {
      text = SettingsTemplate.text(store: store)
    }
    // cron has neither this command line nor this environment.
    if setup.settings.storeSettings.allowsPlaintext {
      text = SettingsTemplate.allowingPlaintext(text)
    }
    for one in login?.settings ?? [] {
      guard let changed = SettingsTemplate.setting(one, in: text) else {
        throw Failure(
          .configuration,
          "'\(one.section):' in \(path) is written in one line: put '\(one.key):' into a line of its "
            + "own below it, or pass --no-save")
      }
      text = changed
    }
    return text
  }

  private func write(_ text: String, _ setup: CommandContext) throws {
    // Users who record read a machine's configuration, which names files with secrets but contains
    // none.
    try AtomicFile.write(
      Array(text.utf8), to: setup.home.configurationPath,
      mode: setup.home.owner == nil ? 0o600 : 0o644)
  }
}
