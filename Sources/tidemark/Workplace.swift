import Foundation
import ObjectStore
import SessionLog
import Sync

/// What every command starts from: the home, its configuration, this device.
struct Workplace {
  let environment: [String: String]
  let home: Home
  let settings: Settings
  let device: Device

  /// Opens the home.
  ///
  /// - Parameter acceptsBadSettings: say what is wrong with the configuration, and go on with the
  ///   defaults: a program is recorded whatever is wrong with us.
  init(acceptsBadSettings: Bool = false) throws {
    environment = ProcessInfo.processInfo.environment
    home = Home.locate(environment: environment)
    do {
      settings = try Settings(path: home.configurationPath)
    } catch  where acceptsBadSettings {
      Console.complain("\(error)")
      settings = Settings()
    }
    try home.create()
    device = try Device.load(home, now: .now())
  }

  private var storeText: String? {
    environment["TIDEMARK_STORE"].flatMap { $0.isEmpty ? nil : $0 } ?? settings.store
  }

  /// Whether logs may leave: the configuration says so, or the environment names a store.
  var sends: Bool {
    guard storeText != nil else { return false }
    return settings.consent == .logs || (settings.consent == nil && settings.store == nil)
  }

  /// Everything for operations with the store.
  func context(transfers: Int? = nil) throws -> SyncContext {
    guard let text = storeText else {
      throw Failure(
        .configuration,
        "no store is configured; run 'tidemark init s3://bucket/logs' (or https://…, file:///…)")
    }
    guard sends else {
      throw Failure(
        .authentication,
        "consent is 'none' in \(home.configurationPath): nothing leaves this machine; "
          + "set 'consent: logs' to send logs")
    }
    return try context(store: StoreURL(text), transfers: transfers)
  }

  /// Everything for operations with a given store.
  func context(store: StoreURL, transfers: Int? = nil) throws -> SyncContext {
    var settings = settings.storeSettings
    if let transfers { settings.transfers = transfers }
    return try SyncContext(
      home: home, device: device,
      store: openStore(store, settings: settings, environment: environment),
      machine: .current(), transfers: settings.transfers)
  }

  /// The store where there is one; nil for a home that sends nothing.
  func contextIfSending() throws -> SyncContext? { try sends ? context() : nil }

  /// Keeps a second upload, reaper or deletion away for as long as the result lives.
  func lock() throws -> SessionLock? { try SessionLock.tryExclusive(home.lockPath) }

  func requireLock() throws -> SessionLock {
    guard let lock = try lock() else {
      throw Failure(.tryLater, "an upload is running in \(home.path); try again when it has ended")
    }
    return lock
  }
}
