import Fleet
import HTTPTransport
import LogRecords
import ObjectStore
import Platform
import SessionLog

/// Prints messages on standard output.
enum AlertOutput {
  static func text(_ message: AlertNotification, asJSON: Bool) -> String {
    asJSON ? (try? Console.json(message)) ?? message.text : message.text
  }
}

extension FailingTarget {
  /// The number of failures, as text.
  var timesText: String { attempts == 1 ? "once" : "\(attempts) times" }
}

extension TargetSender {
  /// The sender for the targets in the rules' file.
  init(_ rules: AlertSettings, in setup: CommandContext, asJSON: Bool) throws {
    self.init(
      rules.targets, over: try setup.settings.storeSettings.alertTransport(), on: .current,
      environment: setup.environment
    ) { message in
      Console.say(AlertOutput.text(message, asJSON: asJSON))
    }
  }
}

extension StoreSettings {
  /// The transport for notifications, with the store's proxy and certificate authorities.
  func alertTransport() throws -> HTTPTransport {
    var settings = self
    settings.connectTimeout = min(settings.connectTimeout, .seconds(10))
    settings.stallTimeout = min(settings.stallTimeout, .seconds(10))
    (settings.limitRate, settings.maximumRequests) = (nil, nil)
    // A webhook's path is its credential.
    settings.hasSecretTargets = true
    // The pinned key and the client certificate are for the store's server only.
    (settings.pinnedKey, settings.clientCertificateFile, settings.clientKeyFile) = (nil, nil, nil)
    return try settings.transport()
  }
}
