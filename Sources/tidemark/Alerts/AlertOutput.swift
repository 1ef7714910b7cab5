import Fleet
import HTTPTransport
import LogRecords
import ObjectStore
import Platform
import SessionLog

/// Messages on standard output.
enum AlertOutput {
  static func text(_ message: AlertNotification, asJSON: Bool) -> String {
    asJSON ? (try? Console.json(message)) ?? message.text : message.text
  }
}

extension FailingTarget {
  /// How often it failed.
  var timesText: String { attempts == 1 ? "once" : "\(attempts) times" }
}

extension CommandContext {
  /// Delivers messages as the rules' file says.
  func alertSender(_ settings: AlertSettings, asJSON: Bool) throws -> TargetSender {
    TargetSender(
      settings.targets, over: try self.settings.alertTransport(), environment: environment
    ) { message in
      Console.say(AlertOutput.text(message, asJSON: asJSON))
    }
  }
}

extension Settings {
  /// What carries messages: with the proxy and the authorities of the store.
  func alertTransport() throws -> HTTPTransport {
    var settings = storeSettings
    settings.connectTimeout = min(settings.connectTimeout, .seconds(10))
    settings.stallTimeout = min(settings.stallTimeout, .seconds(10))
    (settings.limitRate, settings.maximumRequests) = (nil, nil)
    // A pinned key and a certificate of ours are for the store's server.
    (settings.pinnedKey, settings.clientCertificateFile, settings.clientKeyFile) = (nil, nil, nil)
    return try settings.transport()
  }
}
