import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

/// Surveys homes and the true content of the store.
final class Surveyor {
  struct Name {
    var session: SessionID?
    var device = ""
    var segment: SegmentName?
    /// The generation of the device's session that the segment belongs to.
    var stream = ""
    var revision: RevisionName?
  }

  private struct Compared {
    let bytes: [UInt8]
    let start: Int
    /// Length of the log at that time.
    let length: Int
    let difference: Int?
  }

  struct Decoded {
    let versions: [Int]
    let bytes: [UInt8]?
    /// Whether it contains an unmasked secret.
    let isBare: Bool
    /// Length of the log when it was compared, and whether it is a part of that.
    var compared: (length: Int, isPart: Bool)?
  }

  let oracle: Oracle
  var decoded: [String: Decoded] = [:]
  var names: [String: Name] = [:]
  private var masked: [String: Compared] = [:]
  private var numbers: [String: (bytes: [UInt8], lines: [Int])] = [:]

  init(_ oracle: Oracle) { self.oracle = oracle }

  /// The line numbers in the content of a path or name; read again only if the bytes have changed.
  func lines(_ bytes: [UInt8], of name: String) -> [Int] {
    if let known = numbers[name], known.bytes == bytes { return known.lines }
    let lines = LineNumber.all(in: bytes)
    numbers[name] = (bytes, lines)
    return lines
  }

  /// Where bytes differ from what was written, ignoring masks; compared again only if they, or the
  /// part they correspond to, have changed.
  private func difference(
    _ bytes: [UInt8], _ written: [UInt8], from start: Int = 0, of name: String
  ) -> Int? {
    if let known = masked[name], known.start == start, known.bytes == bytes,
      known.difference == nil || known.length == written.count
    {
      return known.difference
    }
    let difference = Masked.difference(bytes, written, from: start)
    masked[name] = Compared(
      bytes: bytes, start: start, length: written.count, difference: difference)
    return difference
  }

  /// Surveys everything.
  func survey(_ homes: [SimulatedHome]) async throws -> Holdings {
    var holdings = Holdings()
    (holdings.time, holdings.users) = (oracle.time.milliseconds, oracle.users)
    for home in homes {
      holdings.running.formUnion(home.recorders.map(\.writer.session))
      try survey(at: home, &holdings)
    }
    try await surveyStore(&holdings)
    return holdings
  }

  // MARK: Homes

  private func survey(at home: SimulatedHome, _ holdings: inout Holdings) throws {
    var lines: Set<Int> = []
    for day in try home.home.days() {
      for session in try home.home.sessions(day: day) {
        let local = LocalSession(home.home, session)
        if let written = oracle.written(session) {
          holdings.written[session] = written.count
          holdings.local[home.number, default: [:]][session] = positions(local.files, written)
        } else if let rest = try? AtomicFile.read(local.files.log) {
          lines.formUnion(self.lines(rest, of: local.files.log))
        }
      }
    }
    for path in try ForeignFile.paths(in: home.logs) {
      lines.formUnion(self.lines(try AtomicFile.read(path), of: path))
    }
    holdings.localLines[home.number] = lines
    holdings.held[home.number] = Set(
      try Directory.names(in: home.home.path + "/keep")
        .compactMap { $0.hasSuffix(".json") ? SessionID(String($0.dropLast(5))) : nil })
    try surveyTrash(of: home, &holdings)
    try surveyMirror(of: home, &holdings)
  }

  private func surveyTrash(of home: SimulatedHome, _ holdings: inout Holdings) throws {
    let trash = home.home.path + "/trash"
    for day in try Directory.names(in: trash).sorted() {
      let folder = "\(trash)/\(day)"
      let sessions = Set(
        try Directory.names(in: folder).compactMap { SessionID(String($0.prefix(25))) })
      for session in sessions.sorted() {
        guard let written = oracle.written(session) else { continue }
        let files = home.home.files(for: session, in: folder)
        holdings.trashed[home.number, default: [:]][session, default: RangeSet()]
          .formUnion(positions(files, written))
      }
    }
  }

  /// What a session's files have of what was written, on both sides of lost parts.
  private func positions(_ files: SessionFiles, _ written: [UInt8]) -> RangeSet<Int> {
    guard let log = try? RecordedLog(files), let runs = try? log.runs() else { return RangeSet() }
    return runs.reduce(into: RangeSet()) { positions, run in
      guard let bytes = try? log.read(run) else { return }
      let start = Int(run.lowerBound)
      let end =
        difference(bytes, written, from: start, of: "\(files.log) \(start)") ?? start + bytes.count
      let range = start..<max(start, min(end, start + bytes.count, written.count))
      positions.insert(contentsOf: range)
    }
  }

  private func surveyMirror(of home: SimulatedHome, _ holdings: inout Holdings) throws {
    for device in try Directory.names(in: home.mirror) {
      for day in try Directory.names(in: "\(home.mirror)/\(device)") {
        for name in try Directory.names(in: "\(home.mirror)/\(device)/\(day)").sorted() {
          let path = "\(home.mirror)/\(device)/\(day)/\(name)"
          judgeSidecar(path, of: home)
          guard name.hasSuffix(".log"), let session = SessionID(String(name.prefix(25))),
            let written = oracle.written(session),
            let bytes = try? AtomicFile.read(path)
          else { continue }
          let end = difference(bytes, written, of: path) ?? bytes.count
          holdings.mirrored[home.number, default: [:]][session, default: RangeSet()]
            .formUnion(RangeSet(0..<min(end, written.count)))
        }
      }
    }
  }

  /// A sidecar in a mirror is as it was sent; one truncated by a power failure does not count.
  private func judgeSidecar(_ path: String, of home: SimulatedHome) {
    guard path.hasSuffix(".json"), let json = try? AtomicFile.read(path), !oracle.wasSent(json),
      (try? Sidecar(json: json)) != nil
    else { return }
    oracle.report(
      .init(
        .reading, "the mirror of home \(home.number) has \(path.lastPart), which was never sent"))
  }
}
