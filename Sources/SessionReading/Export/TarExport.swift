import Platform
import Replica
package import SessionLog

/// Sessions as a tar archive: `<device>/<day>/<session>.log` and `.json` of each.
package struct TarExport {
  let readers: [SessionReader]
  let choice: RecordChoice
  let mode: SessionReader.Mode
  let omits: (SessionID, any Error) -> Bool

  /// Describes an archive of sessions.
  ///
  /// - Parameter omits: called with a session that cannot be read, and the error: returns whether
  ///   the archive is made without it.
  package init(
    _ readers: [SessionReader], _ choice: RecordChoice, _ mode: SessionReader.Mode,
    omitting omits: @escaping (SessionID, any Error) -> Bool
  ) {
    self.readers = readers
    self.choice = choice
    self.mode = mode
    self.omits = omits
  }

  /// Writes it.
  ///
  /// - Returns: whether nothing had to be skipped.
  /// - Throws: ``ReadingError`` if no session can be read, and the error of one that may not be
  ///   omitted.
  package func write(to file: ExportFile) async throws -> Bool {
    var isWhole = true
    var omitted = 0
    for reader in readers {
      let start = try file.mark()
      do {
        isWhole = try await write(reader, to: file) && isWhole
      } catch {
        guard readers.count > 1, try file.takeBack(to: start), omits(reader.entry.session, error)
        else { throw error }
        omitted += 1
      }
    }
    guard omitted == 0 || omitted < readers.count else { throw ReadingError.noneReadable }
    try file.write(TarEntry.end)
    return isWhole && omitted == 0
  }

  private func write(_ reader: SessionReader, to file: ExportFile) async throws -> Bool {
    var isWhole = true
    let sidecar = reader.entry.sidecar
    let modified = sidecar.endedAt ?? sidecar.lastUpdatedAt
    // The id becomes the name of a folder when the archive is unpacked.
    guard Device.isID(sidecar.deviceId) else {
      throw ReadingError(
        .damaged,
        "\(reader.entry.session): its sidecar has the device id "
          + "'\(String(oneLine: sidecar.deviceId, limit: 64))', which no device has; export it as text"
      )
    }
    func entry(_ suffix: String, _ size: ByteCount) -> TarEntry {
      TarEntry(
        folder: "\(sidecar.deviceId)/\(reader.entry.session.day)",
        name: "\(reader.entry.session).\(suffix)", size: size, modified: modified)
    }
    if choice.admitsAll, mode != .salvaged {
      try await stream(reader, entry("log", reader.length.byteCount), to: file)
    } else {
      let spool = try SpoolFile()
      isWhole = try await reader.read(choice, mode) { try spool.write($0) }
      let entry = entry("log", spool.length)
      try file.write(entry.header)
      try spool.read { try file.write($0) }
      try file.write(entry.padding)
    }
    let json = try sidecar.remoteForm.json()
    let described = entry("json", ByteCount(json.count))
    try file.write(described.header + json + described.padding)
    return isWhole
  }

  /// Writes a log of known length.
  private func stream(_ reader: SessionReader, _ entry: TarEntry, to file: ExportFile) async throws
  {
    try file.write(entry.header)
    var written: ByteCount = 0
    _ = try await reader.read(choice, mode) {
      written += ByteCount($0.count)
      try file.write($0)
    }
    guard written == entry.size else {
      throw ReadingError(
        .changed, "\(reader.entry.session) changed while it was read; try again")
    }
    try file.write(entry.padding)
  }
}
