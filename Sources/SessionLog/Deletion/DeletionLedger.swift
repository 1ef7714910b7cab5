import Foundation
package import Platform

/// A home's record of its deletions, their times and their evidence.
///
/// JSON lines, appended to one file a day, `deletions/2026-11-22.jsonl`; if that is full, to
/// `deletions/2026-11-22_0002.jsonl` and so on. Each line is written before its deletion. Files are
/// removed after a year of lived time, or when all together become too large.
package struct DeletionLedger: Sendable {
  /// One deletion.
  package struct Entry: Sendable, Equatable, Codable {
    /// The deleted copy.
    package enum Copy: String, Sendable, Codable {
      /// The copy on this machine.
      case local
      /// The copy in the store.
      case remote
      /// The copy in this machine's trash.
      case trash
    }

    /// When, by this machine's clock.
    package let at: Timestamp
    /// The session.
    package let session: SessionID
    /// The deleted copy.
    package let copy: Copy
    /// The deleted files or objects, for a person: `log`, `part 10000000`, `3 objects`.
    package let what: String
    /// Bytes freed; nil if unknown.
    package var bytes: ByteCount?
    /// Whether it was moved to the trash instead of being deleted.
    package var isInTrash: Bool?
    /// The kind of evidence.
    package let ground: DeletionGround
    /// The evidence.
    package let finding: String
    /// Names of the remote copy's segments of earlier generations, which its listing alone does not
    /// show to be needed; nil if there are none, and in entries of earlier versions.
    package var basis: [String]?
    /// Stream offset after the last byte of a rotated part; nil for other files and objects, and in
    /// entries of earlier versions.
    package var end: StreamOffset?
    /// Why the deletion recorded by an earlier entry failed.
    package var failure: String?

    /// Describes a deletion.
    package init(
      at: Timestamp, session: SessionID, copy: Copy, what: String, bytes: ByteCount? = nil,
      isInTrash: Bool? = nil, ground: DeletionGround, finding: String, basis: [String]? = nil,
      end: StreamOffset? = nil
    ) {
      (self.at, self.session, self.copy, self.what) = (at, session, copy, what)
      (self.bytes, self.isInTrash) = (bytes, isInTrash)
      (self.ground, self.finding, self.basis) = (ground, finding, basis)
    }

    /// The fields that a repetition of a deletion has in common with the first.
    package struct Kind: Hashable {
      let session: SessionID
      let copy: Copy
      let what: String
      let ground: DeletionGround
    }

    /// The fields in common with a repetition.
    package var kind: Kind { Kind(session: session, copy: copy, what: what, ground: ground) }
  }

  /// How long files are kept, in lived time.
  private static let life = Duration.days(366)
  /// The maximum size of all files but the newest, in bytes.
  private let limit: ByteCount
  /// The size at which a file is full, in bytes.
  private let fileLimit: ByteCount
  private static let suffix = ".jsonl"
  /// A text that lines of failures contain, and few others.
  private static let failureMark = Data(#""failure":"#.utf8)

  private let folder: String

  /// The ledger of a home.
  package init(_ home: Home) { self.init(home, limit: 256 << 20, fileLimit: 16 << 20) }

  /// A ledger with other limits, in bytes.
  package init(_ home: Home, limit: ByteCount, fileLimit: ByteCount) {
    (folder, self.limit, self.fileLimit) = (home.path + "/deletions", limit, fileLimit)
  }

  // MARK: Writing

  /// Appends entries.
  ///
  /// - Parameter isDurable: whether they must survive a power failure before this returns.
  /// - Returns: whether this began a new file.
  /// - Throws: ``Platform/SystemError``.
  @discardableResult
  package func append(_ entries: [Entry], isDurable: Bool) throws -> Bool {
    guard let first = entries.first else { return false }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var lines: [UInt8] = []
    for entry in entries { lines += try encoder.encode(entry) + [0x0a] }
    try Directory.makeOne(folder, isDurable: true)
    let path = try file(of: first.at.day)
    let isNew = try FileStatus(path) == nil
    // Separate the next line from one that a power failure cut short.
    if let length = try FileStatus(path)?.length, length > 0,
      try OpenFile(path).read(at: length - 1, count: 1) != [0x0a]
    {
      lines.insert(0x0a, at: 0)
    }
    let file = try Descriptor(opening: path, [.write, .create, .append])
    try lines.withUnsafeBytes { try file.write($0) }
    guard isDurable else { return isNew }
    try file.synchronize()
    try AtomicFile.syncDirectory(of: path)
    return isNew
  }

  /// The file for a day's next lines.
  private func file(of day: String) throws -> String {
    let names = try files().filter { $0.hasPrefix(day) }
    guard let last = names.last else { return "\(folder)/\(day)\(Self.suffix)" }
    let size = try FileStatus("\(folder)/\(last)")?.length ?? 0
    guard ByteCount(size) >= fileLimit else { return "\(folder)/\(last)" }
    // An underscore sorts after the dot.
    let number = Int(last.dropFirst(day.count + 1).prefix { $0.isNumber }) ?? 1
    let digits = String(min(number, 9998) + 1)
    let padding = String(repeating: "0", count: 4 - digits.count)
    return "\(folder)/\(day)_\(padding)\(digits)\(Self.suffix)"
  }

  // MARK: Reading

  /// Deletions among the given ones that failed and have not succeeded since, according to the
  /// newest file.
  ///
  /// - Parameter day: today; files of later days come from a wrong clock.
  /// - Throws: ``Platform/SystemError``.
  package func failures(among kinds: Set<Entry.Kind>, on day: String) throws -> Set<Entry.Kind> {
    guard let name = try files().last(where: { $0.prefix(day.count) <= day }) else { return [] }
    var failed: Set<Entry.Kind> = []
    try forEachLine(of: "\(folder)/\(name)") { line in
      guard !failed.isEmpty || line.range(of: Self.failureMark) != nil,
        let entry = try? JSONDecoder().decode(Entry.self, from: line), kinds.contains(entry.kind)
      else { return }
      if entry.failure == nil { failed.remove(entry.kind) } else { failed.insert(entry.kind) }
    }
    return failed
  }

  /// The deletions from sessions, oldest first.
  ///
  /// - Parameter matches: whether to include a session.
  /// - Throws: ``Platform/SystemError``.
  package func entries(where matches: (SessionID) -> Bool) throws -> [Entry] {
    var found: [Entry] = []
    try forEachEntry(where: matches) { found.append($0) }
    return found
  }

  /// Passes the deletions from sessions to a closure, oldest first: all of them may be very many.
  ///
  /// - Parameter matches: whether to include a session.
  /// - Throws: ``Platform/SystemError``.
  package func forEachEntry(
    where matches: (SessionID) -> Bool, _ body: (Entry) -> Void
  ) throws {
    for name in try files() {
      try forEachLine(of: "\(folder)/\(name)") { line in
        // Skip a truncated line.
        guard let entry = try? JSONDecoder().decode(Entry.self, from: line),
          matches(entry.session)
        else { return }
        body(entry)
      }
    }
  }

  /// The segments of earlier generations that the remote copies of sessions had when their local
  /// copies were deleted; sessions without any are omitted.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func basis(of sessions: Set<SessionID>) throws -> [SessionID: Set<String>] {
    guard !sessions.isEmpty else { return [:] }
    return try entries(where: sessions.contains).reduce(into: [:]) { found, entry in
      guard entry.copy == .local, let basis = entry.basis else { return }
      found[entry.session] = Set(basis)
    }
  }

  /// Stream bytes of the rotated parts of a session that were pruned; without end where that is
  /// unknown.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func prunedParts(of session: SessionID) throws -> [Range<StreamOffset>] {
    try entries { $0 == session }.compactMap { entry in
      guard entry.copy == .local, entry.failure == nil, entry.what.hasPrefix(Self.partMark) else {
        return nil
      }
      let start = Int64(entry.what.dropFirst(Self.partMark.count)).map { StreamOffset($0) }
      return start.map { $0..<max($0, entry.end ?? .max) }
    }
  }

  /// What an entry says of a rotated part that begins at an offset.
  package static func part(at start: StreamOffset) -> String { "\(partMark)\(start)" }

  private static let partMark = "part "

  private func files() throws -> [String] {
    try Directory.names(in: folder).filter { name in
      try name.hasSuffix(Self.suffix) && FileStatus("\(folder)/\(name)")?.kind == .file
    }.sorted()
  }

  private func forEachLine(of path: String, _ body: (Data) -> Void) throws {
    let file = try OpenFile(path)
    var rest: [UInt8] = []
    var position: Int64 = 0
    while true {
      let bytes = try file.read(at: position, count: 1 << 16)
      position += Int64(bytes.count)
      rest += bytes
      var start = rest.startIndex
      while let end = rest[start...].firstIndex(of: 0x0a) {
        body(Data(rest[start..<end]))
        start = end + 1
      }
      rest.removeSubrange(..<start)
      // A line this long is not ours.
      guard !bytes.isEmpty, rest.count < 1 << 20 else { return }
    }
  }

  // MARK: Ageing

  /// Removes files that are over a year old and, if all together are too large, those of later days
  /// than today, which come from a wrong clock, and then the oldest ones.
  ///
  /// The newest file, which is written at present, stays.
  ///
  /// - Parameter today: the present day.
  /// - Throws: ``Platform/SystemError``.
  package func removeOld(at time: LivedTime, on today: String) throws {
    let sizes = try files().map { name in
      (name, ByteCount(try FileStatus("\(folder)/\(name)")?.length ?? 0))
    }
    var total = sizes.map(\.1).total
    var failure: SystemError?
    let newest = sizes.last { $0.0.prefix(today.count) <= today }?.0
    let later = sizes.filter { $0.0.prefix(today.count) > today }
    let earlier = sizes.filter { $0.0.prefix(today.count) <= today && $0.0 != newest }
    for (name, size) in later + earlier {
      // A day written under a wrong clock has an unknown age.
      let age = Timestamp(iso: "\(name.prefix(10))T00:00:00Z").flatMap { time.age(since: $0) }
      guard age.map({ $0 > Self.life }) ?? false || total > limit else { continue }
      do {
        try File.remove("\(folder)/\(name)")
        total -= size
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}
