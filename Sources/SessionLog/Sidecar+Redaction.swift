public import Redaction

/// What a sidecar says in the words of the program, or of those who run it.
extension Sidecar {
  /// The form that leaves the machine: without what only matters here, and masked.
  ///
  /// - Parameter redactor: the rules that bind it.
  public func remoteForm(redactedBy redactor: Redactor) -> Sidecar {
    remoteForm.masked(by: redactor)
  }

  /// The same, its free text masked.
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
    copy.scenarios = scenarios.map(masked)
    copy.categories = categories.map(redactor.redactedCategory)
    return copy
  }
}
