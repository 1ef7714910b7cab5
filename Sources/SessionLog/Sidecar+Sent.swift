package import Platform
public import Redaction

/// A sidecar as others get it: without what is local, masked, and with what the machine knows.
extension Sidecar {
  /// The form that is sent: without local fields.
  public var remoteForm: Sidecar {
    var copy = self
    copy.recorder = nil
    copy.seal = nil
    copy.source = nil
    copy.agesFrom = nil
    copy.erasesBefore = nil
    copy.remoteReapedAt = nil
    return copy
  }

  /// The form that is sent without the log: without text taken from the log, and without file
  /// paths.
  public var metadataForm: Sidecar {
    var copy = remoteForm
    copy.consent = .metadata
    copy.fileName = "\(sessionId).log"
    copy.scenarios = []
    copy.categories = []
    copy.crash = nil
    copy.digest = nil
    copy.redacted = nil
    return copy
  }

  /// Whether the log is not sent, or not beyond the part that the store has.
  public var withholdsLog: Bool { consent == .metadata }

  /// The form that is sent: without local fields, and masked.
  ///
  /// - Parameter redactor: the rules that bind it.
  public func remoteForm(redactedBy redactor: Redactor) -> Sidecar {
    remoteForm.masked(by: redactor)
  }

  /// The sidecar with its free text masked.
  package func masked(by redactor: Redactor) -> Sidecar {
    func masked(_ text: String) -> String {
      String(decoding: redactor.redacted(Array(text.utf8)), as: UTF8.self)
    }
    var copy = self
    copy.deviceName = masked(deviceName)
    copy.deviceModel = deviceModel.map(masked)
    copy.osVersion = masked(osVersion)
    copy.appName = masked(appName)
    copy.appVersion = appVersion.map(masked)
    copy.buildNumber = buildNumber.map(masked)
    copy.crash?.core = crash?.core.map(masked)
    copy.fileName = masked(fileName)
    copy.userId = masked(userId)
    copy.principal = principal.map(masked)
    copy.scenarios = scenarios.map(masked)
    copy.categories = categories.map(redactor.redactedCategory)
    return copy
  }

  /// Replaces statements that are not a user's to make where root sends, and signs, the sessions of
  /// all users.
  ///
  /// The user is the home's owner. Name, model and system of the device come from root's record:
  /// recorders read them from there as well. The start is in the second that the id names.
  /// Everything else is the program's word, such as its name, its version and `principal`.
  ///
  /// - Parameters:
  ///   - owner: the home's owner in machine-wide mode; nil elsewhere.
  ///   - device: this device. The sidecar of a session that was sealed as another one keeps its
  ///     description.
  package mutating func bind(to owner: Account?, of device: Device) {
    uid = owner?.id
    guard let owner else { return }
    userId = owner.name
    if deviceId == device.deviceId {
      (deviceName, deviceModel) = (device.deviceName, device.deviceModel)
      osVersion = device.osVersion
    }
    let start = sessionId.startedAt
    if !(start..<(start + .seconds(1))).contains(startedAt) { startedAt = start }
  }
}
