import SessionLog

/// The sidecar's fields for the program and its user.
///
/// They are uploaded with it; only secrets that the redaction rules find are masked. Where one upload
/// serves all users of a machine, it states the user and the device's name itself.
public struct SessionDescription: Sendable, Equatable {
  /// The user of the program.
  public var userId: String
  /// A second id, such as the hash of a credential's name.
  public var principal: String?
  /// The program's version.
  public var appVersion: String?
  /// Its build number.
  public var buildNumber: String?
  /// The device's name for people.
  public var deviceName: String
}

extension LogSession {
  /// Changes the sidecar's fields for the program and its user, at any time.
  ///
  /// ```swift
  /// session.describe { $0.userId = "anna" }
  /// ```
  ///
  /// - Parameter change: changes the fields.
  /// - Throws: `SystemError` when the sidecar cannot be written; the change is then written
  ///   with the next one, or at the end.
  public func describe(_ change: @Sendable (inout SessionDescription) -> Void) throws {
    try writer?.describe { sidecar in
      var description = SessionDescription(
        userId: sidecar.userId, principal: sidecar.principal, appVersion: sidecar.appVersion,
        buildNumber: sidecar.buildNumber, deviceName: sidecar.deviceName)
      change(&description)
      sidecar.userId = description.userId
      sidecar.principal = description.principal
      sidecar.appVersion = description.appVersion
      sidecar.buildNumber = description.buildNumber
      sidecar.deviceName = description.deviceName
    }
  }
}
