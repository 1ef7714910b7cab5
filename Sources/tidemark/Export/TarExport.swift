import Replica
import SessionLog
import Sync

/// Sessions as a tar archive: `<device>/<day>/<session>.log` and `.json` of each.
struct TarExport {
  let texts: [SessionText]
  let choice: RecordChoice

  /// Writes it.
  ///
  /// - Returns: whether nothing had to be passed over.
  func write(to file: ExportFile) async throws -> Bool {
    var isWhole = true
    for text in texts {
      let sidecar = text.entry.sidecar
      let modified = sidecar.endedAt ?? sidecar.lastUpdatedAt
      // It becomes a folder wherever the archive is unpacked.
      guard SessionFolder.isDevice(sidecar.deviceId) else {
        throw Failure(
          .integrity,
          "\(text.entry.session): its sidecar has the device id "
            + "\(sidecar.deviceId.prefix(64).debugDescription), which no device has; export it as text"
        )
      }
      func entry(_ suffix: String, _ size: Int64) -> TarEntry {
        TarEntry(
          folder: "\(sidecar.deviceId)/\(text.entry.session.day)",
          name: "\(text.entry.session).\(suffix)", size: size, modified: modified)
      }
      if choice.admitsAll, !choice.salvages {
        try await stream(text, entry("log", text.length), to: file)
      } else {
        let spool = try SpoolFile()
        isWhole = try await text.read(choice) { try spool.write($0) } && isWhole
        let entry = entry("log", spool.length)
        try file.write(entry.header)
        try spool.read { try file.write($0) }
        try file.write(entry.padding)
      }
      let json = try sidecar.remoteForm.json()
      let described = entry("json", Int64(json.count))
      try file.write(described.header + json + described.padding)
    }
    try file.write(TarEntry.end)
    return isWhole
  }

  /// Writes a log of which the length is known.
  private func stream(_ text: SessionText, _ entry: TarEntry, to file: ExportFile) async throws {
    try file.write(entry.header)
    var written: Int64 = 0
    _ = try await text.read(choice) {
      written += Int64($0.count)
      try file.write($0)
    }
    guard written == entry.size else {
      throw Failure(
        .tryLater, "\(text.entry.session) changed while it was read; try again")
    }
    try file.write(entry.padding)
  }
}
