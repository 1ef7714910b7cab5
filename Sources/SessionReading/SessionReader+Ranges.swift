import LogRecords
import Platform
import Replica
import SessionLog

extension SessionReader {
  /// How much of the stream to read, and how to read it.
  ///
  /// - Parameter lines: only this number of last lines is needed, or a few more; nil for all.
  func ranges(
    _ choice: RecordChoice, lines: Int?
  ) async throws -> (SessionBytes, ReadExtent) {
    try expectSeal()
    guard !isLocal, let remote = entry.remote, let store = catalog.context.store else {
      let log = try catalog.openLog(entry)
      let length = min(length, try log.status().length)
      var start = StreamOffset.zero
      if let lines, choice.filter.admitsAll {
        start = try Self.start(ofLast: lines, in: log, length: length)
      }
      return (.local(log), ReadExtent([start..<length], of: length))
    }
    let parts = try RangedStreamReader(
      of: remote, upTo: remote.end, in: store, knowing: catalog.context.keys)
    let bytes: SessionBytes =
      isLongerLocally
      ? .both(parts, upTo: remote.end, try catalog.openLog(entry)) : .remote(parts)
    if choice.times != nil || (lines == nil && (choice.levels != nil || choice.scenarios != nil)) {
      let ranges = try await parts.span(
        choice.times.map(widened), levels: choice.levels, scenarios: choice.scenarios)
      let all = ranges + (isLongerLocally ? [remote.end..<length] : [])
      return (bytes, ReadExtent(all, of: length))
    }
    guard let lines, !isLongerLocally else { return (bytes, .whole(upTo: length)) }
    let ranges = try await parts.last(lines: lines, levels: choice.levels)
    return (bytes, ReadExtent(ranges, of: length))
  }

  /// Widens a time span for a file whose times lack a zone: its index has them in the writer's
  /// zone, and we read them in ours.
  private func widened(_ times: ClosedRange<Int64>) -> ClosedRange<Int64> {
    let isForeign =
      entry.sidecar.format == .asIs && entry.sidecar.deviceId != catalog.context.device.deviceId
    // From UTC-12 to UTC+14.
    let slack = (isForeign ? Duration.hours(26) : .zero).milliseconds
    let (first, last) = (times.lowerBound, times.upperBound)
    return
      (first < .min + slack ? .min : first - slack)...(last > .max - slack ? .max : last + slack)
  }

  /// Start of the last lines, or a line or two before.
  private static func start(
    ofLast lines: Int, in log: LocalStream, length: StreamOffset
  ) throws -> StreamOffset {
    var start = length
    var found = 0
    while start > 0, found <= lines {
      let end = start
      start = max(.zero, end - 65_536)
      found += try log.read(start..<end).reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) }
    }
    return start
  }
}
