import LogRecords
import Platform
import Replica
import SessionLog
import SessionReading

/// Prints lines of followed sessions merged by time.
final class TailPrinter {
  private let labels: SessionLabels
  private let isAlone: Bool
  private let output = LineOutput()
  private var json: [DeviceSession: RecordJSON] = [:]

  init(_ entries: [SessionCatalog.Entry], asJSON: Bool) {
    labels = SessionLabels(entries)
    isAlone = entries.count == 1
    guard asJSON else { return }
    for entry in entries { json[entry.deviceSession] = RecordJSON(entry.sidecar) }
  }

  /// Prints the sessions' available lines.
  func print(_ sessions: [FollowedSession]) async throws {
    let start = Timestamp(milliseconds: .min)
    var merge = RecordMerge(sessions.map { .init($0, from: start) })
    var last: DeviceSession?
    while let (number, line) = try await merge.next() {
      let entry = sessions[number].entry
      let session = entry.deviceSession
      if let last, last != session { json[last]?.finish { output.write($0) } }
      last = session
      if json.isEmpty {
        line.with { output.show($0, label: isAlone ? nil : labels[entry] + ": ") }
      } else {
        line.with { line in json[session]?.add(line) { output.write($0) } }
      }
    }
    // The next record, which would complete the last one, may not come for long.
    if let last { json[last]?.finish { output.write($0) } }
    output.flush()
  }

  func reportEnd(of session: FollowedSession) {
    if let problem = session.problem {
      Console.complain("\(problem)")
    } else if let ending = session.ending {
      Console.complain("\(session.entry.session) \(ending)")
    }
  }
}
