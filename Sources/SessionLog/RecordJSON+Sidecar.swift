public import LogRecords

extension RecordJSON {
  /// Begins at the start of a line of a session's log.
  ///
  /// - Parameters:
  ///   - sidecar: the session's sidecar.
  ///   - clockOffset: the offset of its clock, for readers; nil to omit it.
  public init(_ sidecar: Sidecar, clockOffset: Duration? = nil) {
    self.init(
      session: sidecar.sessionId.description, device: sidecar.deviceName, app: sidecar.appName,
      format: sidecar.format, clockOffset: clockOffset)
  }
}
