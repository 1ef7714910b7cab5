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
      fails. Where an upload found that the marker of a store in use is missing, look at the store \
      first: a share may not be mounted. Then --restore-marker puts it back, into the configured \
      store or the one named. \
      Credentials come from the AWS environment variables or profile files, or from \
      TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD. With --machine, root configures the machine \
      for all users: \(MachineWide.configurationPath), and \(MachineWide.statePath)/USER for what \
      each of them records; root's 'tidemark upload' sends it.
      """)

  @Argument(help: "s3://bucket/prefix, https://host/dav/folder, or file:///folder.")
  var url: String?

  @Flag(help: "Put the missing marker back into a store that this home has used.")
  var restoreMarker = false

  @Flag(help: "Configure the machine for all its users; for root.")
  var machine = false

  @Flag(
    help: "Accept http:// to another machine: all on the way may read logs and password.")
  var allowPlaintext = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    guard url != nil || restoreMarker else {
      throw ValidationError("Name the store's URL, or --restore-marker for the configured store.")
    }
  }

  func run() async throws {
    let place = try workplace()
    let url = try self.url.map { try place.storeURL($0) } ?? place.storeURL()
    let store = try place.settings.store(at: url, environment: place.environment)
    let used = try UsedStores.load(place.home)
    guard !restoreMarker else {
      return try await restore(url, store, isUsed: used.contains(store.location), place)
    }
    // A person who names a store knows more than a record that cannot be read.
    if used.isKnown && used.contains(store.location) {
      try expectFolder(url)
      try await FormatMarker.check(store, isUsed: true, create: false)
    }
    if case .directory(let path) = url.kind, try DirectoryStore(path: path).makeRoot() {
      Console.say("Made the folder \(path).")
    }
    let isThere = try await FormatMarker.isWhole(in: store)
    try await probe(store)
    if !isThere { try await FormatMarker.write(to: store) }
    try configure(url, place)
  }

  /// Puts the marker back into a store that lost it; a folder that is not there is never made.
  private func restore(
    _ url: StoreURL, _ store: any ObjectStore, isUsed: Bool, _ place: Workplace
  ) async throws {
    if isUsed { try expectFolder(url) }
    guard try await !FormatMarker.isWhole(in: store) else {
      return Console.say("\(store.location)/\(FormatMarker.key) is there; nothing was written.")
    }
    guard isUsed || place.servesAllUsers else {
      throw Failure(
        .configuration, "this home has not used \(store.location); run 'tidemark init \(url)'")
    }
    let lock = try place.requireLock()
    try await probe(store)
    try await FormatMarker.write(to: store)
    try Uploader(place.context(store: url)).retryStore(holding: lock)
    Console.say(
      "Wrote \(store.location)/\(FormatMarker.key). No log was restored: run 'tidemark verify'; "
        + "'tidemark verify --repair' sends again what the local logs still have.")
  }

  /// Refuses to go on where the folder of a store that is in use is not there.
  private func expectFolder(_ url: StoreURL) throws {
    guard case .directory(let path) = url.kind, !FileManager.default.fileExists(atPath: path) else {
      return
    }
    throw Failure(
      .configuration,
      "the folder \(path) does not exist, and this home has sent sessions there: mount it. If it is "
        + "gone for good: mkdir \(path), then 'tidemark init --restore-marker \(url)'")
  }

  private func configure(_ store: StoreURL, _ place: Workplace) throws {
    try write(store: store.description, place)
    Console.say("Ready: \(store) takes, gives back and deletes objects.")
    Console.say("Configuration: \(place.home.configurationPath) (consent: logs)")
    let crontab = place.home.owner == nil ? "crontab" : "root's crontab"
    Console.say("Next: tidemark run -- PROGRAM   and in \(crontab): * * * * * tidemark upload")
    let secrets = ["AWS_SECRET_ACCESS_KEY", "TIDEMARK_WEBDAV_PASSWORD"].filter {
      place.environment[$0]?.isEmpty == false
    }
    if let name = secrets.first {
      Console.remark(
        "Note: cron will not see \(name). Name a file with the secret in the configuration.")
    }
  }

  private func workplace() throws -> Workplace {
    let environment = ProcessInfo.processInfo.environment
    let usual = Home.locate(environment: environment)
    var choice = StoreChoice()
    choice.allowsPlaintext = allowPlaintext
    let logger = try diagnostics.logger()
    guard machine || usual.owner != nil else {
      return try Workplace(choice: choice, logger: logger)
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
    try MachineWide.create()
    return try Workplace(MachineWide.home(of: .current), choice: choice, logger: logger)
  }

  private func probe(_ store: any ObjectStore) async throws {
    let key = "\(FormatMarker.probeFolder)scratch-\(SessionID.make(at: .now()))"
    let content = Array("tidemark \(key)\n".utf8)
    let found: [UInt8]
    do {
      _ = try await store.put(key, content)
      found = try await store.get(key)
    } catch {
      // A put that failed may have stored something all the same.
      _ = try? await store.delete([key])
      throw error
    }
    if let error = try await store.delete([key]).first?.error { throw error }
    guard found == content else {
      throw ReplicaError(.damagedObject, "\(store.location)/\(key) came back with other bytes")
    }
  }

  private func write(store: String, _ place: Workplace) throws {
    let path = place.home.configurationPath
    var text: String
    if let written = try Settings.text(of: path) {
      text = SettingsTemplate.replacing(storeIn: written, with: store)
    } else {
      text = SettingsTemplate.text(store: store, environment: place.environment)
    }
    // cron knows neither this command line nor this environment.
    if place.settings.storeSettings.allowsPlaintext {
      text = SettingsTemplate.allowingPlaintext(text)
    }
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    // Users who record read a machine's configuration; it names files with secrets and holds none.
    let mode = place.home.owner == nil ? 0o600 : 0o644
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
