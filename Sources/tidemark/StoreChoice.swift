import ObjectStore
import Platform

/// What the command line says of the store; it stands above environment and configuration.
struct StoreChoice {
  /// Whether plain `http` to another machine is accepted, whatever the configuration says.
  var allowsPlaintext = false
  /// Bytes a second.
  var limitRate: ByteCount?
  /// Requests at the most.
  var maximumRequests: Int?
  /// Whether this is a command that can stop in the middle and go on the next time.
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
