import Delta
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog

/// Searches the new bytes of a session's stream for the records that rules count.
struct RecordScan {
  private let rules: [AlertRule]
  private let patterns: [LinePattern?]
  private let facts: SessionFacts
  private let now: ServerTime

  /// Bytes of one stream read in a pass; the next pass continues after them.
  private static let limit: ByteCount = 16 << 20

  init(_ rules: [AlertRule], _ facts: SessionFacts, now: ServerTime) throws {
    (self.rules, self.facts, self.now) = (rules, facts, now)
    patterns = try rules.map { rule in
      try rule.records.flatMap { records in
        try records.pattern.map { try LinePattern($0, ignoresCase: records.ignoresCase) }
      }
    }
  }

  /// Indexes of the levels whose records are read; nil for all.
  private var levels: [Int]? {
    var ranks: Set<Int> = []
    for rule in rules {
      guard let levels = rule.records?.levels else { return nil }
      ranks.formUnion(levels.ranks)
    }
    return ranks.sorted()
  }

  /// Reads from an offset.
  ///
  /// - Returns: the counted records, and the offset up to which the stream was read: the start of a
  ///   line.
  /// - Throws: ``Replica/ReplicaError``, ``ObjectStore/StoreError``.
  func read(
    _ remote: RemoteSession, from start: StreamOffset, in store: any ObjectStore,
    knowing keys: KnownKeys?
  ) async throws -> (matches: [MatchedRecords], end: StreamOffset) {
    let whole = min(remote.mark, remote.seal?.length ?? .max)
    let end = min(whole, start + Self.limit)
    guard start < end else { return ([], start) }
    let parts = try RangedStreamReader(of: remote, upTo: end, in: store, knowing: keys)
    var ranges = [start..<end]
    if let levels { ranges = try await parts.span(nil, levels: levels, from: start) }
    var tally = RecordTally(rules, patterns, facts, now: now)
    var filter = RecordFilter()
    // Only to find the year of times without one, with a tolerance of a day.
    let reference = now.assumingSynchronizedClocks
    filter.reader = RecordReader(facts.isAsIs ? .asIs : .lines, reference: reference)
    filter.position = Int64(start)
    var position = start
    try await parts.read(ranges) { offset, bytes in
      if offset != position { filter.skip(to: Int64(offset)) }
      position = offset + ByteCount(bytes.count)
      filter.add(bytes) { tally.add($0) }
    }
    let isEnded = remote.seal != nil && end == whole
    if isEnded || position < end { filter.finish { tally.add($0) } }
    // An unfinished line is read again once it has an end, unless it is as long as the limit.
    let read = position < end || isEnded ? end : StreamOffset(filter.position)
    return (tally.matches, read > start ? read : end)
  }
}

/// Counts the records of one session that match rules.
private struct RecordTally {
  private let rules: [AlertRule]
  private let patterns: [LinePattern?]
  private let facts: SessionFacts
  private let now: ServerTime
  private var found: [MatchedRecords?]
  /// Whether the current record was counted already, by rule.
  private var isCounted: [Bool]
  private var head = Head()

  /// The current record.
  private struct Head {
    var level = Level.info
    var time: Timestamp?
    var category: String?
    var scenario: String?
  }

  init(_ rules: [AlertRule], _ patterns: [LinePattern?], _ facts: SessionFacts, now: ServerTime) {
    (self.rules, self.patterns, self.facts, self.now) = (rules, patterns, facts, now)
    found = rules.map { _ in nil }
    isCounted = rules.map { _ in false }
  }

  var matches: [MatchedRecords] { found.compactMap(\.self) }

  private var readsNames: Bool {
    rules.contains { !$0.filter.categories.isEmpty || !$0.filter.scenarios.isEmpty }
  }

  mutating func add(_ line: RecordLine) {
    if let head = line.head {
      self.head = Head(level: head.level, time: head.time)
      if readsNames {
        self.head.category = String(decoding: line.bytes[head.category], as: UTF8.self)
        self.head.scenario = String(decoding: line.bytes[head.scenario], as: UTF8.self)
      }
      for rule in rules.indices { isCounted[rule] = false }
    }
    for (number, rule) in rules.enumerated() where !isCounted[number] {
      guard let records = rule.records, records.levels?.contains(head.level) ?? true,
        AlertFilter.admit(rule.filter.categories, head.category),
        AlertFilter.admit(rule.filter.scenarios, head.scenario),
        patterns[number].map({ $0.isFound(in: line.text) }) ?? (line.head != nil)
      else { continue }
      isCounted[number] = true
      count(line, number)
    }
  }

  private mutating func count(_ line: RecordLine, _ number: Int) {
    // A record without a time counts as written now, and none was written in the future.
    let written = head.time.map { $0.asServer(offset: .milliseconds(facts.clockOffset)) } ?? now
    let time = min(written, now)
    var records =
      found[number]
      ?? MatchedRecords(
        rule: rules[number].name, facts.subject, at: time, level: head.level.name,
        offset: line.offset)
    records.add(at: time)
    if let level = Level(name: records.level), head.level > level {
      records.level = head.level.name
    }
    if records.lines.count < MatchedRecords.mostLines {
      records.lines.append(
        LineText.sanitized(String(decoding: line.text.prefix(4096), as: UTF8.self)))
    }
    found[number] = records
  }
}
