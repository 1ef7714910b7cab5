import LogRecords
import Platform
import SessionLog
import Sync

/// Several sessions on one time line, as text or as JSON lines.
struct MergedExport {
  let texts: [SessionText]
  let choice: RecordChoice
  let format: SessionExport.Format
  /// Whether times are corrected by what the devices' clocks lacked.
  let correctsClocks: Bool

  func write(to file: ExportFile) async throws {
    let labels = SessionLabels(texts.map(\.entry))
    var inputs: [RecordMerge<LineCursor>.Input] = []
    var json: [RecordJSON] = []
    for text in texts {
      let (bytes, ranges) = try await text.places(choice, lines: nil)
      let cursor = LineCursor(bytes, ranges: ranges, filter: text.filter(choice))
      let offset = clock(of: text)
      inputs.append(.init(cursor, from: Self.start(of: text.entry), offset: offset ?? 0))
      json.append(RecordJSON(text.entry.sidecar, clockOffset: offset))
      guard format == .text else { continue }
      try file.write(SessionExport.header(text.entry.sidecar, clock: offset).utf8)
    }
    if format == .text { try file.write(SessionExport.logMark.utf8) }
    var merge = RecordMerge(inputs)
    var last: Int?
    var isInLine = false
    while let (number, line) = try await merge.next() {
      if format == .jsonl {
        if let last, last != number { try json[last].finish { try file.write($0) } }
        try line.with { try json[number].add($0) { try file.write($0) } }
      } else {
        if isInLine, line.startsLine { try file.write([0x0a]) }
        if line.startsLine { try file.write("\(labels[texts[number].entry]): ".utf8) }
        try file.write(line.bytes)
        isInLine = line.bytes.last != 0x0a
      }
      last = number
    }
    if let last { try json[last].finish { try file.write($0) } }
  }

  /// What a session's clock lacked; of this device's, where no upload has told yet, what it lacks
  /// now.
  private func clock(of text: SessionText) -> Int64? {
    guard correctsClocks else { return nil }
    let sidecar = text.entry.sidecar
    let isOwn = sidecar.deviceId == text.context?.device.deviceId
    return sidecar.clockOffset ?? (isOwn ? text.context?.clockOffset : nil)
  }

  /// Sooner than a session's first record; clocks that are set back are allowed for, and times of
  /// other programs that tell no zone.
  private static func start(of entry: SessionCatalog.Entry) -> Timestamp {
    let slack: Int64 = entry.sidecar.format == .asIs ? 26 * 3_600_000 : 60_000
    return Timestamp(milliseconds: entry.sidecar.startedAt.milliseconds - slack)
  }
}
