import LogRecords
import ObjectStore
import Platform
import SessionLog
import Sync

/// A session of which the last lines are wanted, and perhaps what comes.
final class FollowedSession: LineSource {
  let entry: SessionCatalog.Entry
  /// Whether it is looked at on this machine.
  let isLocal: Bool
  /// How it ended.
  private(set) var ending: StreamGrowth.Ending?
  /// Why it cannot be followed any more.
  private(set) var problem: LookupError?

  private let follower: any StreamFollower
  private let cursor: LineCursor
  private var first: [KeptLine]
  private var hasTold = false

  /// Nothing more comes.
  var isDone: Bool { ending != nil || problem != nil }

  /// Finds the last lines.
  init(
    _ text: SessionText, _ place: Workplace, _ choice: RecordChoice, follows: Bool, remote: Bool
  ) async throws {
    entry = text.entry
    isLocal = entry.location != .remote && !remote
    if !isLocal, let remote = entry.remote, let context = text.context {
      follower = RemoteFollower(remote, in: context.store)
    } else {
      follower = LocalFollower(entry.session, home: place.home, device: place.device)
    }
    (cursor, first) = try await Self.last(choice, of: text, isFinal: !follows)
    first.reverse()
  }

  private static func last(
    _ choice: RecordChoice, of text: SessionText, isFinal: Bool
  ) async throws -> (LineCursor, [KeptLine]) {
    let count = choice.lastLines ?? .max
    var asked = count
    while true {
      let (bytes, ranges) = try await text.places(choice, lines: asked)
      let cursor = LineCursor(
        bytes, ranges: ranges, filter: text.filter(choice), isFinal: isFinal)
      if ranges.isEmpty { cursor.skip(to: text.length) }
      var last = LastLines(count)
      while let line = try await cursor.next() { last.add(line) }
      let isFromStart = ranges.first.map { $0.lowerBound == 0 } ?? true
      if last.isFull || isFromStart || choice.times != nil || asked == .max {
        return (cursor, last.inOrder)
      }
      asked = asked > .max / 4 ? .max : max(1, asked) * 4
    }
  }

  func next() async throws -> KeptLine? {
    if let line = first.popLast() { return line }
    return try await cursor.next()
  }

  /// Looks how far it has grown.
  ///
  /// A store that cannot be reached at present is asked again the next time.
  func look() async throws {
    do {
      let growth = try await follower.look()
      if growth.isRewritten {
        tell("was written anew in the store; going on at its end")
        cursor.skip(to: growth.range.upperBound)
      } else if cursor.end < growth.range.lowerBound {
        let missing = growth.range.lowerBound - cursor.end
        tell("\(missing) bytes were pruned here before they could be shown")
        cursor.skip(to: growth.range.lowerBound)
      }
      cursor.extend(to: growth.range.upperBound, of: follower, isFinal: growth.ending != nil)
      ending = growth.ending
      hasTold = false
    } catch let error as LookupError where error.code == .gone {
      problem = error
    } catch let error as StoreError where error.isTransient {
      if !hasTold { tell("\(error)") }
      hasTold = true
    }
  }

  private func tell(_ what: String) { Console.complain("\(entry.session): \(what)") }
}

/// Prints lines of followed sessions on one time line.
final class TailPrinter {
  private let labels: SessionLabels
  private let isAlone: Bool
  private let output = LineOutput()
  private var json: [SessionID: RecordJSON] = [:]

  init(_ entries: [SessionCatalog.Entry], asJSON: Bool) {
    labels = SessionLabels(entries)
    isAlone = entries.count == 1
    guard asJSON else { return }
    for entry in entries { json[entry.session] = RecordJSON(entry.sidecar) }
  }

  /// Prints what there is of the sessions at present.
  func print(_ sessions: [FollowedSession]) async throws {
    let start = Timestamp(milliseconds: .min)
    var merge = RecordMerge(sessions.map { .init($0, from: start) })
    var last: SessionID?
    while let (number, line) = try await merge.next() {
      let entry = sessions[number].entry
      if let last, last != entry.session { json[last]?.finish { output.write($0) } }
      last = entry.session
      if json.isEmpty {
        line.with { output.show($0, label: isAlone ? nil : labels[entry] + ": ") }
      } else {
        line.with { line in json[entry.session]?.add(line) { output.write($0) } }
      }
    }
    // Nobody knows when the next record comes that would end the last one.
    if let last { json[last]?.finish { output.write($0) } }
    output.flush()
  }

  func tellEnd(of session: FollowedSession) {
    if let problem = session.problem {
      Console.complain("\(problem)")
    } else if let ending = session.ending {
      Console.complain("\(session.entry.session) ended: \(ending)")
    }
  }
}
