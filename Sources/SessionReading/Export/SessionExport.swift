import LogRecords
package import Platform
package import SessionLog

/// One session as text, as JSON lines or as an asciicast.
package struct SessionExport: Sendable {
  /// The formats of an export.
  package enum Format: String, CaseIterable, Sendable { case text, jsonl, tar, asciicast }

  let reader: SessionReader
  let choice: RecordChoice
  let mode: SessionReader.Mode
  let format: Format
  /// Whether the file's name contains the device's id, because another device's session has the same
  /// id.
  package var namesDevice = false

  /// Describes an export of a session.
  package init(
    _ reader: SessionReader, _ choice: RecordChoice, _ mode: SessionReader.Mode, as format: Format
  ) {
    self.reader = reader
    self.choice = choice
    self.mode = mode
    self.format = format
  }

  /// Minimum number of bytes to be written, as far as known.
  package var promisedBytes: ByteCount { choice.promised(by: [reader], mode) }

  /// The session.
  package var session: SessionID { reader.entry.session }

  /// The file's name in a folder.
  package var fileName: String {
    let ending =
      switch format {
      case .text: "txt"
      case .jsonl: "jsonl"
      case .tar: "tar"
      case .asciicast: "cast"
      }
    let device = reader.entry.device
    // A local sidecar may have any text.
    let prefix = namesDevice && Device.isID(device) ? "\(device)-" : ""
    return "\(prefix)\(reader.entry.session).\(ending)"
  }

  /// Writes it.
  ///
  /// - Returns: whether nothing had to be skipped.
  package func write(to file: ExportFile) async throws -> Bool {
    switch format {
    case .jsonl: return try await writeLines(to: file)
    case .asciicast: return try await writeCast(to: file)
    case .text, .tar:
      try file.write((ExportHeader.text(of: reader.entry.sidecar) + ExportHeader.end).utf8)
      return try await reader.read(choice, mode) { try file.write($0) }
    }
  }

  private func writeCast(to file: ExportFile) async throws -> Bool {
    let sidecar = reader.entry.sidecar
    guard sidecar.format == .lines else {
      throw ReadingError(.unfit, "\(sidecar.sessionId) has no times, and makes no asciicast")
    }
    var replay = Replay()
    var cast = Asciicast(
      title: "\(sidecar.appName) on \(sidecar.deviceName)", startedAt: sidecar.startedAt)
    func write(_ time: Timestamp?, _ event: Replay.Event) throws {
      try file.write(try cast.lines(at: time, event))
    }
    let isWhole = try await reader.read(choice, mode) { try replay.add($0, write) }
    try replay.finish(write)
    try file.write(try cast.finish())
    return isWhole
  }

  private func writeLines(to file: ExportFile) async throws -> Bool {
    var json = RecordJSON(reader.entry.sidecar)
    let isWhole = try await reader.readLines(choice, mode) {
      try json.add($0) { try file.write($0) }
    }
    try json.finish { try file.write($0) }
    return isWhole
  }
}
