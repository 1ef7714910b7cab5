public import LogRecords

extension RecordJSON {
  /// Begins at the start of a line of a session's log.
  ///
  /// - Parameters:
  ///   - sidecar: whose records they are.
  ///   - clockOffset: what its clock lacks, for readers; nil where it is not told.
  public init(_ sidecar: Sidecar, clockOffset: Duration? = nil) {
    self.init(
      session: sidecar.sessionId.description, device: sidecar.deviceName, app: sidecar.appName,
      format: sidecar.format, clockOffset: clockOffset)
  }
}
