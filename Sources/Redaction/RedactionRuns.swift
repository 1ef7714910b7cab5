import LogRecords

/// Joins matches into the runs of bytes that are masked, each with one kind.
///
/// The boundaries of a run, and its kind, depend only on nearby matches, so that a run does not
/// depend on where the pass starts.
struct RedactionRuns {
  let text: UnsafeRawBufferPointer
  let pass: RedactionPass
  private(set) var runs: [(range: Range<Int>, rule: Int, isCategory: Bool)] = []
  /// Start of the last run's line; nil if it is far before the run.
  private var line: Int? = 0
  /// Position up to which newlines have been searched.
  private var searched = 0

  init(_ pass: RedactionPass) {
    self.pass = pass
    text = pass.text
    let matches = pass.matches.sorted {
      ($0.range.lowerBound, $0.rule) < ($1.range.lowerBound, $1.rule)
    }
    var cluster = matches[..<0]
    var end = 0
    for (number, match) in matches.enumerated() {
      if !cluster.isEmpty, match.range.lowerBound <= end {
        cluster = matches[cluster.startIndex...number]
      } else {
        add(cluster, upTo: end)
        cluster = matches[number...number]
      }
      end = cluster.count == 1 ? match.range.upperBound : max(end, match.range.upperBound)
    }
    add(cluster, upTo: end)
  }

  /// Adds the runs of matches that touch.
  private mutating func add(_ cluster: ArraySlice<RedactionPass.Match>, upTo end: Int) {
    guard let first = cluster.first else { return }
    let start = first.range.lowerBound
    var owners: [UInt8] = []
    if cluster.count > 1 {
      owners = Array(repeating: .max, count: end - start)
      for match in cluster {
        for place in match.range {
          owners[place - start] = min(owners[place - start], UInt8(match.rule))
        }
      }
    }
    func rule(_ at: Int) -> Int { owners.isEmpty ? first.rule : Int(owners[at - start]) }
    let prefix = prefix(before: start)
    if pass.rules.masksCategories {
      add(prefix.category.clamped(to: start..<end), isCategory: true, rule)
    }
    add(min(max(start, prefix.end), end)..<end, isCategory: false, rule)
  }

  /// Adds the runs of a range of adjacent matches; `rule` gives the rule of a position.
  private mutating func add(_ range: Range<Int>, isCategory: Bool, _ rule: (Int) -> Int) {
    var place = range.lowerBound
    let end = range.upperBound
    if place < end,
      let within = RedactionMark.end(around: place, in: text)
        ?? RedactionPass.fenceEnd(around: place, in: text)
    {
      place = within
    }
    var run = place
    while place < end {
      if text[place] == 0x0a {
        if run < place { runs.append((run..<place, rule(run), isCategory)) }
        place += 1
        run = place
      } else if let end = RedactionMark.end(at: place, in: text)
        ?? RedactionPass.fenceEnd(at: place, in: text)
      {
        if run < place { runs.append((run..<place, rule(run), isCategory)) }
        place = end
        run = place
      } else {
        place += 1
      }
    }
    if run < end { runs.append((run..<end, rule(run), isCategory)) }
  }

  /// The recorder's prefix in a position's line; empty without one.
  private mutating func prefix(before place: Int) -> (category: Range<Int>, end: Int) {
    guard pass.hasPrefixes else { return (place..<place, place) }
    let earliest = place - RedactionPass.longestPrefix
    if searched < earliest || line.map({ $0 < earliest }) ?? false {
      (line, searched) = (earliest <= 0 ? 0 : nil, max(0, earliest))
    }
    while case let end = pass.lineEnd(of: searched, notAfter: place), end < place {
      (line, searched) = (end + 1, end + 1)
    }
    searched = max(searched, place)
    return line.map { pass.prefix(ofLineAt: $0) } ?? (place..<place, place)
  }
}
