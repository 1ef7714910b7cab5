import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

/// Surveys the true content of a store.
extension Surveyor {
  func surveyStore(_ holdings: inout Holdings) async throws {
    let truth = TrueStore(oracle.store)
    holdings.hasMarker = truth.objects[FormatMarker.key] != nil
    var streams: [String: [SegmentName]] = [:]
    for (key, object) in truth.objects.sorted(by: { $0.key < $1.key }) {
      let name = name(of: key)
      if let hold = HoldName(key.lastPart) {
        holdings.heldRemotely.insert(
          DeviceSession(device: name.device, session: hold.session))
      }
      if let session = name.session {
        let copy = DeviceSession(device: name.device, session: session)
        holdings.newest[session, default: [:]][name.device] = max(
          holdings.newest(copy) ?? .min, object.storedAt)
        holdings.sealed[session] = max(holdings.sealed[session] ?? .min, object.begunAt)
      }
      if let revision = name.revision {
        let folder = String(key.dropLast(key.lastPart.count))
        func add(to numbers: inout [SessionID: [String: Int]]) {
          numbers[revision.session, default: [:]][folder, default: 0] = max(
            revision.number, numbers[revision.session]?[folder] ?? 0)
        }
        add(to: &holdings.namedRevisions)
        if revision.matches(object.bytes) { add(to: &holdings.revisions) }
      }
      guard let segment = name.segment else { continue }
      if segment.stored == ByteCount(object.bytes.count) {
        streams[name.stream, default: []].append(segment)
      } else {
        holdings.damage(segment)
      }
    }
    for (stream, segments) in streams.sorted(by: { $0.key < $1.key }) {
      let device = String(stream.prefix { $0 != "/" })
      try await add(segments, of: device, in: truth, &holdings)
    }
  }

  /// The meaning of an object's key.
  func name(of key: String) -> Name {
    if let known = names[key] { return known }
    let parts = key.split(separator: "/")
    var name = Name()
    if parts.count == 4, parts[0] == "devices" {
      name.segment = SegmentName(String(parts[3]))
      name.revision = RevisionName(String(parts[3]))
      name.session = name.segment?.session ?? name.revision?.session
      name.device = String(parts[1])
      name.stream =
        name.segment.map { "\(parts[1])/\(parts[2])/\($0.session).\($0.generation)" } ?? ""
    }
    names[key] = name
    return name
  }

  func add(
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
      let start = Int(segment.range.lowerBound)
      guard let content = await decode(segment, in: folder, truth), let bytes = content.bytes else {
        holdings.damage(segment)
        continue
      }
      if let written {
        // A log shortened by a power failure may end in a secret that is no longer recognizable.
        let isCut =
          holdings.running.contains(session) && start + bytes.count < written.count
          && Secret.isBare(in: bytes, before: written[(start + bytes.count)...])
        oracle.judge(segment, isBare: content.isBare || isCut)
        guard isPart(segment, folder, bytes, written) else { continue }
        let positions = RangeSet(start..<(start + bytes.count))
        holdings.remote[session, default: [:]][device, default: RangeSet()].formUnion(positions)
      } else if start > end || !Self.continues(joined, upTo: end, bytes, from: start) {
        add(joined, of: DeviceSession(device: device, session: session), &holdings)
        (joined, end) = (bytes, start + bytes.count)
      } else if start + bytes.count > end {
        joined += bytes.dropFirst(end - start)
        end = start + bytes.count
      }
    }
    add(joined, of: DeviceSession(device: device, session: session), &holdings)
  }

  /// Whether two runs of a stream have the same bytes where they overlap: those of two clones need not.
  private static func continues(
    _ first: [UInt8], upTo end: Int, _ second: [UInt8], from start: Int
  ) -> Bool {
    first.suffix(end - start).prefix(second.count).elementsEqual(second.prefix(end - start))
  }

  func add(_ bytes: [UInt8], of session: DeviceSession, _ holdings: inout Holdings) {
    for number in lines(bytes, of: session.name) {
      holdings.remoteLines.insert(number)
      holdings.sessionsOfLines[number, default: []].insert(session)
    }
  }

  func isPart(
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

  /// The content of a segment, without bytes if it does not decode.
  func decode(
    _ segment: SegmentName, in folder: SessionFolder, _ truth: TrueStore
  ) async -> Decoded? {
    let key = folder.key + segment.fileName
    var versions = [truth.objects[key]?.version ?? 0]
    if segment.kind == .delta {
      // Its copies come from earlier segments of the session.
      versions += truth.objects.filter { $0.key.contains("\(segment.session)") }
        .map(\.value.version).sorted()
    }
    if let known = decoded[key], known.versions == versions { return known }
    var bytes: [UInt8]? = []
    do {
      try await RemoteReader(truth, knowing: nil).read(segment, in: folder) {
        bytes?.append(contentsOf: $0)
      }
    } catch {
      bytes = nil
    }
    decoded[key] = Decoded(
      versions: versions, bytes: bytes, isBare: bytes.map(Secret.isBare) ?? false)
    return decoded[key]
  }
}
