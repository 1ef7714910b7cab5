public import Redaction

/// Masks the text in a sidecar that comes from the program or its users.
extension Sidecar {
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
}
