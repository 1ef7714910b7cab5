import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

/// What of each session can be read, and where.
struct Holdings {
  /// Positions of a recorded session's stream, by home.
  var local: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Positions in objects that decode.
  var remote: [SessionID: RangeSet<Int>] = [:]
  /// Positions in mirrors, by home.
  var mirrored: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Numbers of the lines of other programs that are in the store.
  var remoteLines: Set<Int> = []
  /// Numbers of the lines of other programs that are on a machine, by home.
  var localLines: [Int: Set<Int>] = [:]
  /// When the newest object of a session was stored, by the time that passes, in milliseconds.
  var newest: [SessionID: Int64] = [:]
  /// When the newest object of a session had its bytes first, by the time that passes.
  var sealed: [SessionID: Int64] = [:]
  /// When it was looked, in milliseconds.
  var time: Int64 = 0
  /// Whether the store has its marker.
  var hasMarker = false
  /// The homes that had sent something.
  var users: Set<String> = []
  /// The sessions that are being recorded.
  var running: Set<SessionID> = []
  /// The sessions that have such lines, as far as the store knows.
  var sessionsOfLines: [Int: SessionID] = [:]

  /// Positions of a session's stream that are on any machine.
  func local(_ session: SessionID) -> RangeSet<Int> {
    local.values.reduce(into: RangeSet()) { $0.formUnion($1[session] ?? RangeSet()) }
  }
}

/// Looks at homes and at what the store truly holds.
final class Surveyor {
  private struct Name {
    var session: SessionID?
    var segment: SegmentName?
    /// The generation of a device's session that it is a segment of.
    var stream = ""
  }

  private struct Compared {
    let bytes: [UInt8]
    let start: Int
    /// How much had been written.
    let length: Int
    let difference: Int?
  }

  private struct Decoded {
    let versions: [Int]
    let bytes: [UInt8]?
    /// Whether they have a password that is not masked.
    let isBare: Bool
    /// How much had been written when it was compared, and whether it is a part of that.
    var compared: (length: Int, isPart: Bool)?
  }

  private let oracle: Oracle
  private var decoded: [String: Decoded] = [:]
  private var names: [String: Name] = [:]
  private var masked: [String: Compared] = [:]
  private var numbers: [String: (bytes: [UInt8], lines: [Int])] = [:]

  init(_ oracle: Oracle) { self.oracle = oracle }

  /// The line numbers in what has a path or name; read again only where the bytes have changed.
  private func lines(_ bytes: [UInt8], of name: String) -> [Int] {
    if let known = numbers[name], known.bytes == bytes { return known.lines }
    let lines = LineNumber.all(in: bytes)
    numbers[name] = (bytes, lines)
    return lines
  }

  /// Where bytes differ from what was written, masks apart; compared again only where they, or so much
  /// of what was written, have changed.
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

  /// Looks at everything.
  func survey(_ homes: [SimulatedHome]) async throws -> Holdings {
    var holdings = Holdings()
    (holdings.time, holdings.users) = (oracle.time.milliseconds, oracle.users)
    for home in homes {
      holdings.running.formUnion(home.recorders.map(\.writer.session))
      try look(at: home, &holdings)
    }
    try await lookAtStore(&holdings)
    return holdings
  }

  // MARK: Homes

  private func look(at home: SimulatedHome, _ holdings: inout Holdings) throws {
    var lines: Set<Int> = []
    for day in try home.home.days() {
      for session in try home.home.sessions(day: day) {
        let local = LocalSession(home.home, session)
        if let written = oracle.written(session) {
          holdings.local[home.number, default: [:]][session] = positions(local, written)
        } else if let rest = try? AtomicFile.read(local.files.log) {
          lines.formUnion(self.lines(rest, of: local.files.log))
        }
      }
    }
    for name in try Directory.names(in: home.logs) {
      let path = "\(home.logs)/\(name)"
      lines.formUnion(self.lines(try AtomicFile.read(path), of: path))
    }
    holdings.localLines[home.number] = lines
    try lookAtMirror(of: home, &holdings)
  }

  private func positions(_ local: LocalSession, _ written: [UInt8]) -> RangeSet<Int> {
    guard let log = try? local.openLog(nil), let available = try? log.available(),
      let bytes = try? log.read(available)
    else { return RangeSet() }
    let start = Int(available.lowerBound)
    let end =
      difference(bytes, written, from: start, of: local.files.log) ?? start + bytes.count
    let range = start..<max(start, min(end, start + bytes.count, written.count))
    return RangeSet(range)
  }

  private func lookAtMirror(of home: SimulatedHome, _ holdings: inout Holdings) throws {
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

  /// A sidecar in a mirror is as it was sent; one that a power cut has cut short is none.
  private func judgeSidecar(_ path: String, of home: SimulatedHome) {
    guard path.hasSuffix(".json"), let json = try? AtomicFile.read(path), !oracle.wasSent(json),
      (try? Sidecar(json: json)) != nil
    else { return }
    oracle.report(
      .init(.reading, "the mirror of home \(home.number) has \(path.lastPart), which was never sent"))
  }

  // MARK: Store

  private func lookAtStore(_ holdings: inout Holdings) async throws {
    let truth = TrueStore(oracle.store)
    holdings.hasMarker = truth.objects[FormatMarker.key] != nil
    var streams: [String: [SegmentName]] = [:]
    for (key, object) in truth.objects.sorted(by: { $0.key < $1.key }) {
      let name = name(of: key)
      if let session = name.session {
        holdings.newest[session] = max(holdings.newest[session] ?? .min, object.storedAt)
        holdings.sealed[session] = max(holdings.sealed[session] ?? .min, object.begunAt)
      }
      guard let segment = name.segment, segment.stored == ByteCount(object.bytes.count) else {
        continue
      }
      streams[name.stream, default: []].append(segment)
    }
    for (stream, segments) in streams.sorted(by: { $0.key < $1.key }) {
      let device = String(stream.prefix { $0 != "/" })
      try await add(segments, of: device, in: truth, &holdings)
    }
  }

  /// What the key of an object says.
  private func name(of key: String) -> Name {
    if let known = names[key] { return known }
    let parts = key.split(separator: "/")
    var name = Name()
    if parts.count == 4, parts[0] == "devices" {
      name.segment = SegmentName(String(parts[3]))
      name.session = name.segment?.session ?? RevisionName(String(parts[3]))?.session
      name.stream = name.segment.map { "\(parts[1])/\(parts[2])/\($0.session).\($0.generation)" } ?? ""
    }
    names[key] = name
    return name
  }

  private func add(
    _ segments: [SegmentName], of device: String, in truth: TrueStore, _ holdings: inout Holdings
  ) async throws {
    guard let session = segments.first?.session else { return }
    let folder = SessionFolder(device: device, session: session)
    let written = oracle.written(session)
    var joined: [UInt8] = []
    var end = 0
    for segment in segments.sorted(by: {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    }) {
      guard let content = await decode(segment, in: folder, truth), let bytes = content.bytes else {
        continue
      }
      let start = Int(segment.range.lowerBound)
      if let written {
        // A log that a power cut has shortened may end in a secret that nobody can know any more.
        let isCut =
          holdings.running.contains(session) && start + bytes.count < written.count
          && Secret.isBare(in: bytes, before: written[(start + bytes.count)...])
        oracle.judge(segment, isBare: content.isBare || isCut)
        guard isPart(segment, folder, bytes, written) else { continue }
        holdings.remote[session, default: RangeSet()]
          .formUnion(RangeSet(start..<(start + bytes.count)))
      } else if start > end {
        add(joined, of: session, &holdings)
        (joined, end) = (bytes, start + bytes.count)
      } else if start + bytes.count > end {
        joined += bytes.dropFirst(end - start)
        end = start + bytes.count
      }
    }
    add(joined, of: session, &holdings)
  }

  private func add(_ bytes: [UInt8], of session: SessionID, _ holdings: inout Holdings) {
    for number in lines(bytes, of: "\(session)") {
      holdings.remoteLines.insert(number)
      holdings.sessionsOfLines[number] = session
    }
  }

  private func isPart(
    _ segment: SegmentName, _ folder: SessionFolder, _ bytes: [UInt8], _ written: [UInt8]
  ) -> Bool {
    let key = folder.key + segment.fileName
    if let known = decoded[key]?.compared, known.isPart || known.length == written.count {
      return known.isPart
    }
    let isPart = Masked.difference(bytes, written, from: Int(segment.range.lowerBound)) == nil
    decoded[key]?.compared = (written.count, isPart)
    return isPart
  }

  /// The content of a segment, without bytes where it does not decode.
  private func decode(
    _ segment: SegmentName, in folder: SessionFolder, _ truth: TrueStore
  ) async -> Decoded? {
    let key = folder.key + segment.fileName
    var versions = [truth.objects[key]?.version ?? 0]
    if segment.kind == .delta {
      // What it copies from is in earlier segments of the session.
      versions += truth.objects.filter { $0.key.contains("\(segment.session)") }
        .map(\.value.version).sorted()
    }
    if let known = decoded[key], known.versions == versions { return known }
    var bytes: [UInt8]? = []
    do {
      try await RemoteReader(truth).read(segment, in: folder) { bytes?.append(contentsOf: $0) }
    } catch {
      bytes = nil
    }
    decoded[key] = Decoded(
      versions: versions, bytes: bytes, isBare: bytes.map(Secret.isBare) ?? false)
    return decoded[key]
  }
}
