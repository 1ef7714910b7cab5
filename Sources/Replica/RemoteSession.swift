package import ObjectStore
package import Platform
package import SessionLog

/// One session in a listing: its objects, and how far its stream extends.
package struct RemoteSession: Sendable, Equatable {
  /// Its folder.
  package let folder: SessionFolder
  /// The session.
  package let session: SessionID
  /// Segments whose object has the size in its name, by start, longest first.
  package private(set) var segments: [SegmentName] = []
  /// Segments whose object has another size: truncated uploads, which do not count.
  package private(set) var damagedSegments: [ObjectDamage] = []
  /// Complete sidecar revisions by number.
  package private(set) var revisions: [RevisionName] = []
  /// Holds on the session.
  package private(set) var holds: [Hold] = []
  /// Keys of all objects, damaged ones too, sidecar revisions first: the order of deletion.
  package private(set) var keys: [String] = []
  /// Size of all objects.
  package private(set) var storedBytes: ByteCount = 0
  /// When its newest object was written, by the server's clock; nil if the store does not say.
  package private(set) var newest: ServerTime?
  /// The contents that the seal names, if the session was restricted to them; see
  /// ``restricted(to:)``.
  package internal(set) var contents: SealedContents?
  /// Whether its newest revision was read and is its device's; see ``AcceptedSession``.
  package internal(set) var isAccepted = false
  /// Complete segments that the seal does not name, unordered; used by salvage only.
  private(set) var unnamed: [SegmentName] = []

  /// The session, and the device that sent it.
  package var deviceSession: DeviceSession {
    DeviceSession(device: folder.device, session: session)
  }

  /// A session with these objects.
  package init(
    folder: SessionFolder, session: SessionID, segments: [SegmentName] = [],
    revisions: [RevisionName] = []
  ) {
    self.folder = folder
    self.session = session
    self.segments = segments
    self.revisions = revisions
    sort()
  }

  /// A segment found with another size than in its name.
  package struct ObjectDamage: Sendable, Equatable {
    /// The intended segment.
    package let name: SegmentName
    /// The size found.
    package let found: ByteCount
  }

  /// A hold as the store lists it.
  ///
  /// Whoever may write to the store can put a name with any date: a hold lasts no longer than one
  /// that was requested when its object was written.
  package struct Hold: Sendable, Hashable {
    /// Its name.
    package let name: HoldName
    /// When its object was written; nil if the store does not say: then the name's day counts.
    let written: ServerTime?

    /// Describes a listed hold.
    package init(name: HoldName, written: ServerTime?) {
      (self.name, self.written) = (name, written)
    }

    /// The last day on which it counts, `2027-02-20`.
    package var day: String {
      guard let written else { return name.day }
      let latest = written + Holds.longest
      return min(name.day, Timestamp(milliseconds: latest.milliseconds).day)
    }

    /// Whether it applies at a time.
    package func holds(at time: ServerTime) -> Bool {
      Timestamp(milliseconds: time.milliseconds).day <= day
    }
  }

  /// The session in a later listing, accepted if this one was and its revision is still the newest.
  ///
  /// Readers stay with the objects that an accepted seal names, regardless of later listings.
  package func listedAgain(as later: RemoteSession) -> RemoteSession {
    guard isAccepted else { return later }
    var later = contents.map(later.restricted) ?? later
    later.isAccepted = contents != nil || later.revision == revision
    return later
  }

  /// Whether a hold on it applies at a time.
  package func isHeld(at time: ServerTime) -> Bool { holds.contains { $0.holds(at: time) } }

  /// Whether any object has another size than in its name.
  package var hasCutObjects: Bool {
    keys.count > segments.count + revisions.count + holds.count
  }

  /// Whether anything of it is there besides holds.
  package var hasContent: Bool {
    !segments.isEmpty || !revisions.isEmpty || keys.count > holds.count
  }

  /// The end of the readable stream.
  package var readableEnd: StreamOffset { min(mark, seal?.length ?? .max) }

  /// Whether it is sealed, and has every byte of the sealed stream.
  package var isWhole: Bool { seal.map { mark >= $0.length } ?? false }

  /// The names of its complete objects.
  package var fileNames: Set<String> {
    Set(revisions.map(\.fileName) + segments.map(\.fileName))
  }

  /// The newest complete revision.
  package var revision: RevisionName? { revisions.last }

  /// The newest revision if it is the seal.
  package var seal: RevisionName? {
    revisions.last.flatMap { $0.status == .active ? nil : $0 }
  }

  /// The generation to read: the one that the newest revision names, else the first.
  ///
  /// Segments of a higher one belong to an unfinished rewrite; those of a lower one are its basis,
  /// or superseded.
  package var generation: Int { revision?.generation ?? 1 }

  /// The stream offset up to which every byte exists.
  package var mark: StreamOffset { mark(of: generation) }

  /// The stream offset up to which every byte of a generation exists.
  package func mark(of generation: Int) -> StreamOffset {
    cover(upTo: .max, of: generation).last?.range.upperBound ?? 0
  }

  /// The generations whose former streams it does not hold whole.
  ///
  /// Among the objects that a home knows, an incomplete stream means that its cache is older, as after a
  /// restore: then every listed object of that generation counts, as after the loss of the cache.
  package func generationsMissing(from streams: [Sidecar.FormerStream]) -> Set<Int> {
    Set(streams.filter { mark(of: $0.generation) < $0.length }.map(\.generation))
  }

  /// The end of the stream: according to its seal, else the end of its last segment.
  ///
  /// Beyond ``mark`` bytes are missing.
  package var end: StreamOffset {
    seal?.length ?? segments(of: generation).map(\.range.upperBound).max() ?? 0
  }

  /// Complete segments of a generation, by start, longest first.
  package func segments(of generation: Int) -> [SegmentName] {
    segments.filter { $0.generation == generation }
  }

  /// The segment to read from an offset: of those that contain it, the one that extends furthest.
  ///
  /// - Parameters:
  ///   - offset: in stream bytes.
  ///   - generation: the generation; nil for the one that counts.
  package func segment(at offset: StreamOffset, of generation: Int? = nil) -> SegmentName? {
    let generation = generation ?? self.generation
    return segments.lazy
      .filter { $0.generation == generation && $0.range.contains(offset) }
      .max { $0.range.upperBound < $1.range.upperBound }
  }

  /// The segments that together hold `[0, length)`, in order; ends at the first missing byte.
  ///
  /// - Parameters:
  ///   - length: in stream bytes.
  ///   - generation: the generation; nil for the one that counts.
  package func cover(upTo length: StreamOffset, of generation: Int? = nil) -> [SegmentName] {
    var cover: [SegmentName] = []
    var offset = StreamOffset.zero
    var furthest: SegmentName?
    var rest = segments(of: generation ?? self.generation)[...]
    while offset < length {
      while let next = rest.first, next.range.lowerBound <= offset {
        if next.range.upperBound > furthest?.range.upperBound ?? offset { furthest = next }
        rest.removeFirst()
      }
      guard let next = furthest, next.range.upperBound > offset else { break }
      cover.append(next)
      offset = next.range.upperBound
    }
    return cover
  }

  /// Pairs of segments that overlap without one containing the other; no writer of this version
  /// makes them, and readers verify the join.
  package var overlaps: [(SegmentName, SegmentName)] { overlaps(of: generation) }

  /// Such pairs in a generation.
  package func overlaps(of generation: Int) -> [(SegmentName, SegmentName)] {
    var found: [(SegmentName, SegmentName)] = []
    var enclosing: [SegmentName] = []
    for segment in segments(of: generation) {
      enclosing.removeAll { $0.range.upperBound <= segment.range.lowerBound }
      if let outer = enclosing.last, outer.range.upperBound < segment.range.upperBound {
        found.append((outer, segment))
      }
      enclosing.append(segment)
    }
    return found
  }

  /// Segments that have some of the same bytes as others of their generation.
  package var overlapping: Set<SegmentName> {
    var found: Set<SegmentName> = []
    for generation in Set(segments.map(\.generation)) {
      var furthest: SegmentName?
      for segment in segments(of: generation) {
        if let furthest, segment.range.lowerBound < furthest.range.upperBound {
          found.formUnion([furthest, segment])
        }
        if segment.range.upperBound > furthest?.range.upperBound ?? 0 { furthest = segment }
      }
    }
    return found
  }

  /// The session with some of its segments; the others become ``unnamed``.
  ///
  /// `keys` and `storedBytes` remain those of the listing.
  package func keeping(_ isNamed: (SegmentName) -> Bool) -> RemoteSession {
    var copy = self
    copy.segments = (segments + unnamed).filter(isNamed)
    copy.unnamed = (segments + unnamed).filter { !isNamed($0) }
    copy.damagedSegments = damagedSegments.filter { isNamed($0.name) }
    copy.sort()
    return copy
  }

  /// The session with a single segment of its generation.
  func only(_ segment: SegmentName) -> RemoteSession {
    var copy = self
    copy.segments.removeAll { $0.generation == segment.generation }
    copy.segments.append(segment)
    copy.sort()
    return copy
  }

  /// The session with objects that a listing lacked.
  package func adding(_ objects: [ObjectEntry]) -> RemoteSession {
    var copy = self
    for object in objects {
      copy.add(object, fileName: String(object.key.dropFirst(folder.key.count)))
    }
    copy.sort()
    return copy
  }

  mutating func add(_ object: ObjectEntry, fileName: String) {
    var isHold = false
    if let segment = SegmentName(fileName, of: session) {
      if segment.stored == object.size {
        segments.append(segment)
      } else if object.size <= SegmentName.largestObject {
        damagedSegments.append(ObjectDamage(name: segment, found: object.size))
      }
    } else if let revision = RevisionName(fileName, of: session) {
      if revision.stored == object.size { revisions.append(revision) }
    } else if let hold = HoldName(fileName) {
      holds.append(Hold(name: hold, written: object.modified))
      isHold = true
    }
    keys.append(object.key)
    // The server states the sizes: their sum may overflow.
    storedBytes = [storedBytes, object.size].total
    // A hold does not show how old the session is.
    if let modified = object.modified, !isHold {
      newest = max(newest ?? modified, modified)
    }
  }

  mutating func sort() {
    segments.sort {
      ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
    }
    revisions.sort { $0.precedes($1) }
    keys.sort {
      let (first, second) = ($0.hasSuffix(".json"), $1.hasSuffix(".json"))
      return first == second ? $0 < $1 : first
    }
  }
}

extension RevisionName {
  /// The order of a session's revisions: by number.
  ///
  /// A delayed PUT may leave two with one number. The later is the sealed one, then that of the
  /// longer stream, then that with the higher hash.
  fileprivate func precedes(_ other: RevisionName) -> Bool {
    if number != other.number { return number < other.number }
    if (status == .active) != (other.status == .active) { return status == .active }
    return (length, hash) < (other.length, other.hash)
  }
}
