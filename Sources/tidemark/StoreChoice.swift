import ObjectStore
import Platform

/// The command line's settings for the store, which override environment and configuration.
struct StoreChoice {
  /// Whether plain `http` to another machine is allowed, overriding the configuration.
  var allowsPlaintext = false
  /// Rate in bytes per second.
  var limitRate: ByteCount?
  /// Maximum number of requests.
  var maximumRequests: Int?
  /// Whether this command can stop in the middle and continue next time.
  var limitsRequests = false

  func apply(to settings: inout Settings, environment: [String: String]) {
    if let text = environment["TIDEMARK_ALLOW_PLAINTEXT"], let allows = Settings.flag(text) {
      settings.storeSettings.allowsPlaintext = allows
    }
    if allowsPlaintext { settings.storeSettings.allowsPlaintext = true }
    if let limitRate { settings.storeSettings.limitRate = limitRate }
    if limitsRequests {
      settings.storeSettings.maximumRequests = maximumRequests ?? settings.maximumRequests
    }
  }
}
