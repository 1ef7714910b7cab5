package import Platform

/// What a machine knows of its users' sessions, whatever their sidecars say.
extension Sidecar {
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
