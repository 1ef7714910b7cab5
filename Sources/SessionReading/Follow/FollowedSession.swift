package import LogRecords
import ObjectStore
import Platform
import SessionLog

/// A session whose last lines are read, and perhaps those that follow.
package final class FollowedSession: LineSource {
  package let entry: SessionCatalog.Entry
  /// Whether its copy on this machine is followed.
  package let isLocal: Bool
  /// How it ended.
  package private(set) var ending: StreamGrowth.Ending?
  /// Why it can no longer be followed.
  package private(set) var problem: LookupError?

  private let follower: any StreamFollower
  private let cursor: LineCursor
  private var first: [KeptLine]
  private var hasReported = false
  private let report: (String) -> Void

  /// Whether nothing more comes.
  package var isDone: Bool { ending != nil || problem != nil }

  /// Finds the last lines.
  ///
  /// - Parameters:
  ///   - reader: the session.
  ///   - choice: the lines to read.
  ///   - follows: whether more may come.
  ///   - report: called with messages for a person, one line each.
  package init(
    _ reader: SessionReader, _ choice: RecordChoice, follows: Bool,
    report: @escaping (String) -> Void
  ) async throws {
    entry = reader.entry
    self.report = report
    let context = reader.catalog.context
    isLocal = entry.location != .remote && reader.side != .remote
    if !isLocal, let remote = entry.remote, let store = context.store {
      follower = RemoteFollower(remote, in: store, knowing: context.keys)
    } else {
      follower = LocalFollower(entry.session, context)
    }
    (cursor, first) = try await Self.last(choice, of: reader, isFinal: !follows)
    first.reverse()
  }

  private static func last(
    _ choice: RecordChoice, of reader: SessionReader, isFinal: Bool
  ) async throws -> (LineCursor, [KeptLine]) {
    let count = choice.lastLines ?? .max
    var asked = count
    while true {
      let (bytes, extent) = try await reader.ranges(choice, lines: asked)
      let ranges = extent.ranges
      let cursor = LineCursor(
        bytes, ranges: ranges.map { Range($0) }, filter: reader.filter(choice), isFinal: isFinal)
      if ranges.isEmpty { cursor.skip(to: Int64(reader.length)) }
      var last = LastLines(count)
      while let line = try await cursor.next() { last.add(line) }
      let isFromStart = ranges.first.map { $0.lowerBound == 0 } ?? true
      if last.isFull || isFromStart || choice.times != nil || asked == .max {
        return (cursor, last.inOrder)
      }
      asked = asked > .max / 4 ? .max : max(1, asked) * 4
    }
  }

  /// The next line; nil if there is none at present.
  package func next() async throws -> KeptLine? {
    if let line = first.popLast() { return line }
    return try await cursor.next()
  }

  /// Checks how far it has grown.
  ///
  /// A store that is unreachable at present is tried again the next time.
  package func poll() async throws {
    do {
      let growth = try await follower.poll()
      let range = Range<Int64>(growth.range)
      if growth.isRewritten {
        reportProblem("was rewritten in the store; going on at its end")
        cursor.skip(to: range.upperBound)
      } else if cursor.end < range.lowerBound {
        let missing = range.lowerBound - cursor.end
        reportProblem("\(missing) bytes were pruned here before they could be shown")
        cursor.skip(to: range.lowerBound)
      }
      cursor.extend(to: range.upperBound, of: follower, isFinal: growth.ending != nil)
      ending = growth.ending
      hasReported = false
    } catch let error as LookupError where error.code == .gone {
      problem = error
    } catch let error as StoreError where error.isTransient {
      if !hasReported { reportProblem("\(error)") }
      hasReported = true
    }
  }

  private func reportProblem(_ what: String) { report("\(entry.session): \(what)") }
}
