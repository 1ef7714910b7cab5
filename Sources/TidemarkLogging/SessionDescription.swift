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

  init(_ sidecar: Sidecar) {
    userId = sidecar.userId
    principal = sidecar.principal
    appVersion = sidecar.appVersion
    buildNumber = sidecar.buildNumber
    deviceName = sidecar.deviceName
  }

  /// Takes its place in a sidecar.
  func apply(to sidecar: inout Sidecar) {
    sidecar.userId = userId
    sidecar.principal = principal
    sidecar.appVersion = appVersion
    sidecar.buildNumber = buildNumber
    sidecar.deviceName = deviceName
  }
}
