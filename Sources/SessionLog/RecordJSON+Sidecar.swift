public import LogRecords

extension RecordJSON {
  /// Begins at the start of a line of a session's log.
  ///
  /// - Parameters:
  ///   - sidecar: the session's sidecar.
  ///   - generation: that of a former stream; nil for the newest.
  ///   - clockOffset: the offset of its clock, for readers; nil to omit it.
  public init(_ sidecar: Sidecar, generation: Int? = nil, clockOffset: Duration? = nil) {
    self.init(
      session: sidecar.sessionId.description, device: sidecar.deviceName, app: sidecar.appName,
      format: sidecar.format, generation: generation, clockOffset: clockOffset)
  }
}
