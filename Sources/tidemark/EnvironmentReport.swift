import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog

/// The environment that a process of this user would have, determined without changing anything.
struct EnvironmentReport: Encodable {
  /// Its name: this shell, cron, or the machine-wide mode.
  let name: String
  /// The folder with all state.
  let home: String
  /// The configuration in effect.
  let configuration: String
  /// The store's URL; nil if none is configured.
  let store: String?
  /// The device's id; nil if there is none yet.
  let deviceId: String?
  /// The same, as scripts for version 0.1.1 know it.
  let device: String?
  /// The key of the device's signatures, and since when it signs; nil if unknown here.
  let key: String?
  /// Where the access key of a bucket is found; nil for other stores, and if there is none.
  let credentials: String?
  /// Files with a password or key that every user of the machine can read.
  let exposed: [String]
  /// The problem with the configuration or the login; nil if there is none.
  let problem: String?

  /// The environments of this shell, and of a line in this user's crontab.
  static func ofThisUser() async -> (shell: EnvironmentReport, cron: EnvironmentReport) {
    return (
      await EnvironmentReport("this shell", environment: ProcessInfo.processInfo.environment),
      await EnvironmentReport("cron", environment: environmentInCron(.current))
    )
  }

  /// The environment of a line in a user's crontab.
  static func environmentInCron(_ account: Account) -> [String: String] {
    var bare = ["LOGNAME": account.name, "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"]
    bare["HOME"] = account.home
    return bare
  }

  /// The program as a crontab names it: cron's PATH is short.
  static var programInCron: String { programInCron(Console.ownPath) }

  /// The same for a program at a path.
  static func programInCron(_ path: String) -> String {
    if ["/usr/bin/tidemark", "/bin/tidemark"].contains(path) { return "tidemark" }
    let isPlain = path.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || "/._-+@".utf8.contains($0)
    }
    // In a crontab an unescaped % ends the command.
    return isPlain
      ? path : "'" + path.replacing("'", with: "'\\''").replacing("%", with: "\\%") + "'"
  }

  /// Whether cron finds this home without configuration.
  static func isFoundByCron(_ home: Home) -> Bool {
    Home.locate(environment: environmentInCron(.current)).path == home.path
  }

  /// The machine-wide mode; nil if the machine is not configured for it.
  static func ofTheMachine() async -> EnvironmentReport? {
    guard MachineWide.isConfigured else { return nil }
    return await EnvironmentReport(
      "machine-wide", home: MachineWide.home(of: .current), environment: [:])
  }

  private init(_ name: String, environment: [String: String]) async {
    await self.init(name, home: .locate(environment: environment), environment: environment)
  }

  init(_ name: String, home: Home, environment: [String: String]) async {
    self.name = name
    self.home = home.path
    configuration = home.configurationPath
    let device = Device.known(home, on: .current)?.deviceId
    (self.device, deviceId) = (device, device)
    key = device.flatMap { DeviceKey.find(home, deviceId: $0) }.map {
      "\($0.publicKey) \($0.since)"
    }
    var store: String?
    var credentials: String?
    var exposed: [String] = []
    do {
      var settings = try Settings(path: home.configurationPath)
      StoreChoice().apply(to: &settings, environment: environment)
      exposed = settings.secretsReadByOthers(environment: environment)
      store = environment["TIDEMARK_STORE"].flatMap { $0.isEmpty ? nil : $0 } ?? settings.store
      if let store {
        let url = try StoreURL(
          store, allowsPlaintext: settings.storeSettings.allowsPlaintext)
        _ = try settings.store(at: url, environment: environment)
        credentials = try await credentialOrigin(
          url, settings: settings.storeSettings, environment: environment)
      }
      problem = nil
    } catch {
      problem = "\(error)"
    }
    self.store = store.map(StoreURL.withoutSecrets)
    self.credentials = credentials
    self.exposed = exposed
  }

  /// Differences from another environment, in words.
  func differences(from other: EnvironmentReport) -> [String] {
    var words: [String] = []
    if home != other.home { words.append("home") }
    if store != other.store { words.append("store") }
    if device != other.device { words.append("device") }
    return words
  }

  /// Names of relevant variables in this shell that cron does not have.
  static func missingInCron() -> [String] {
    let matters =
      ["TIDEMARK_", "AWS_", "XDG_STATE_HOME", "NETRC", "SSL_CERT_", "http_proxy"]
      + ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
    return ProcessInfo.processInfo.environment.keys.filter { name in
      matters.contains { name.hasPrefix($0) } && name != "TIDEMARK_SESSION"
    }.sorted()
  }
}
