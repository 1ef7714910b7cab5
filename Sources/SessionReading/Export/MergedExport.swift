import LogRecords
import Platform
package import SessionLog

/// Several sessions merged by time, as text or as JSON lines.
package struct MergedExport {
  let readers: [SessionReader]
  let choice: RecordChoice
  let format: SessionExport.Format
  let correctsClocks: Bool
  let omits: (SessionID, any Error) -> Bool

  /// Describes an export.
  ///
  /// - Parameters:
  ///   - readers: the sessions.
  ///   - choice: the lines to export.
  ///   - format: text or JSON lines.
  ///   - correctsClocks: whether to correct times by the offset of the devices' clocks.
  ///   - omits: called with a session that cannot be opened, and the error: returns whether the others
  ///     are merged without it.
  package init(
    _ readers: [SessionReader], _ choice: RecordChoice, as format: SessionExport.Format,
    correctsClocks: Bool, omitting omits: @escaping (SessionID, any Error) -> Bool
  ) {
    self.readers = readers
    self.choice = choice
    self.format = format
    self.correctsClocks = correctsClocks
    self.omits = omits
  }

  /// Writes it.
  ///
  /// - Returns: whether no session had to be left out.
  /// - Throws: ``ReadingError`` if no session can be opened; the error of one that may not be omitted,
  ///   or that cannot be read further.
  package func write(to file: ExportFile) async throws -> Bool {
    let labels = SessionLabels(readers.map(\.entry))
    var opened: [SessionReader] = []
    var inputs: [RecordMerge<LineCursor>.Input] = []
    var json: [RecordJSON] = []
    for reader in readers {
      let bytes: SessionBytes
      let extent: ReadExtent
      do {
        (bytes, extent) = try await reader.ranges(choice, lines: nil)
        // Later the others have been written between its lines.
        if case .whole = extent { try await bytes.expectWhole() }
      } catch {
        guard readers.count > 1, omits(reader.entry.session, error) else { throw error }
        continue
      }
      opened.append(reader)
      let cursor = LineCursor(
        bytes, ranges: extent.ranges.map { Range($0) }, filter: reader.filter(choice))
      let offset = clock(of: reader)
      inputs.append(.init(cursor, from: Self.start(of: reader.entry), offset: offset ?? .zero))
      json.append(RecordJSON(reader.entry.sidecar, clockOffset: offset))
      guard format == .text else { continue }
      try file.write(ExportHeader.text(of: reader.entry.sidecar, clock: offset).utf8)
    }
    guard readers.isEmpty || !opened.isEmpty else { throw ReadingError.noneReadable }
    if format == .text { try file.write(ExportHeader.end.utf8) }
    var merge = RecordMerge(inputs)
    var last: Int?
    var isInLine = false
    while let (number, line) = try await merge.next() {
      if format == .jsonl {
        if let last, last != number { try json[last].finish { try file.write($0) } }
        try line.with { try json[number].add($0) { try file.write($0) } }
      } else {
        if isInLine, line.startsLine { try file.write([0x0a]) }
        if line.startsLine { try file.write("\(labels[opened[number].entry]): ".utf8) }
        try file.write(line.bytes)
        isInLine = line.bytes.last != 0x0a
      }
      last = number
    }
    if let last { try json[last].finish { try file.write($0) } }
    return opened.count == readers.count
  }

  /// The clock offset of a session; for this device, if no upload has determined it yet, the
  /// present one.
  private func clock(of reader: SessionReader) -> Duration? {
    guard correctsClocks else { return nil }
    let sidecar = reader.entry.sidecar
    let isOwn = sidecar.deviceId == reader.catalog.context.device.deviceId
    return sidecar.clockOffset.map(Duration.milliseconds)
      ?? (isOwn ? reader.catalog.context.clockOffset() : nil)
  }

  /// A time before a session's first record, allowing for clocks that were set back, and for times
  /// of other programs without a zone.
  private static func start(of entry: SessionCatalog.Entry) -> Timestamp {
    let slack: Duration = entry.sidecar.format == .asIs ? .hours(26) : .seconds(60)
    return entry.sidecar.startedAt - slack
  }
}
