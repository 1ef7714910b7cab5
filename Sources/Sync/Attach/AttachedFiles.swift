import Delta
import Foundation
import GRDB
import Platform
import SessionLog

/// The cache of attached files: finds a file's session by path, number or content without reading
/// any sidecar.
///
/// The sidecars are authoritative: the cache is rebuilt from them when it is lost, or when a pass
/// did not finish.
final class AttachedFiles {
  private let queue: DatabaseQueue

  /// State that a pass leaves for the next.
  struct Pass: Equatable {
    /// When the last complete pass began; the epoch makes the next one examine every file.
    var since = FileTime.epoch
    /// When all files were last compared with the cache; the epoch forces a comparison.
    var fullAt = FileTime.epoch
    /// The consent it had; nil if an earlier version, which did not record it, made the pass.
    var consent: Consent?
    /// The sources it searched, to be compared only.
    var sources = ""
    /// By the pattern of a source, since when passes have searched it.
    var attached: [String: Timestamp] = [:]
    /// The boot it ran in: a power failure may lose its last writes.
    var boot = ""
    /// Whether a pass has changed sidecars and not finished.
    var isDirty = true
  }

  private static let name = "attached"

  /// Whether a home has this cache.
  static func exist(in home: Home) -> Bool { File.exists(CacheDatabase.path(of: name, in: home)) }

  /// The path of the database, which may be kept in memory.
  private let path: String
  /// Notes that sessions were changed while the database was kept in memory.
  private static let behindSuffix = "-behind"
  /// The path of a file outside the cache with the number of the last pass that changed it.
  private let numberPath: String
  /// Whether files were saved or removed since the last number.
  private var isChanged = false

  init(_ home: Home) throws {
    numberPath = home.path + "/attached"
    path = CacheDatabase.path(of: Self.name, in: home)
    queue = try CacheDatabase.open(home, name: Self.name, Self.schema)
    let behind = path + Self.behindSuffix
    guard !isInMemory, !FileStatus.isAbsent(behind) else { return }
    try queue.change { try $0.execute(sql: "UPDATE pass SET dirty = TRUE") }
    try? File.remove(behind)
  }

  private var isInMemory: Bool { queue.path != path }

  private static let columns = """
    session, path, folder, device, inode, base, length, headLength, headHash, seen, link, changed, \
    rotated, compressed, idleAt
    """

  /// Tables are added rather than changed: a database without a column would be replaced, and only
  /// it knows the files of deleted sessions.
  static let schema = CacheSchema(
    """
    CREATE TABLE file(
      session TEXT PRIMARY KEY, path TEXT NOT NULL, folder TEXT NOT NULL, device INTEGER NOT NULL,
      inode INTEGER NOT NULL, base INTEGER NOT NULL, length INTEGER, headLength INTEGER NOT NULL,
      headHash TEXT NOT NULL, seen INTEGER NOT NULL, link BLOB, changed INTEGER NOT NULL,
      rotated INTEGER NOT NULL, compressed INTEGER NOT NULL, idleAt INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE owner(session TEXT PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX filePath ON file(path);
    CREATE INDEX fileNumber ON file(inode, device);
    CREATE INDEX fileFolder ON file(folder);
    CREATE INDEX fileDue ON file(idleAt) WHERE length IS NULL;
    CREATE INDEX fileRotated ON file(session) WHERE rotated AND length IS NULL;
    CREATE TABLE pass(
      id INTEGER PRIMARY KEY, since INTEGER NOT NULL, fullAt INTEGER NOT NULL,
      sources TEXT NOT NULL, boot TEXT NOT NULL, dirty INTEGER NOT NULL);
    CREATE TABLE problem(path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE consent(id INTEGER PRIMARY KEY, consent TEXT NOT NULL);
    CREATE TABLE number(id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
    CREATE TABLE attached(pattern TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE doubt(path TEXT PRIMARY KEY, session TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE disturbed(path TEXT PRIMARY KEY, again INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE refusal(
      path TEXT PRIMARY KEY, device INTEGER NOT NULL, inode INTEGER NOT NULL,
      length INTEGER NOT NULL, changed INTEGER NOT NULL, maximum INTEGER NOT NULL,
      error INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE awaited(
      session TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
      modified INTEGER NOT NULL, PRIMARY KEY(session, device, inode)) WITHOUT ROWID;
    CREATE TABLE linked(session TEXT PRIMARY KEY) WITHOUT ROWID;
    """,
    probes: [
      "SELECT \(columns) FROM file LIMIT 1",
      "SELECT session, owner FROM owner LIMIT 1",
      "SELECT since, fullAt, sources, boot, dirty FROM pass LIMIT 1",
      "SELECT path, reason FROM problem LIMIT 1",
      "SELECT id, consent FROM consent LIMIT 1",
      "SELECT id, number FROM number LIMIT 1",
      "SELECT pattern, since FROM attached LIMIT 1",
      "SELECT path, session FROM doubt LIMIT 1",
      "SELECT path, again FROM disturbed LIMIT 1",
      "SELECT path, device, inode, length, changed, maximum, error FROM refusal LIMIT 1",
      "SELECT session, device, inode, modified FROM awaited LIMIT 1",
      "SELECT session FROM linked LIMIT 1",
    ])

  // MARK: Files

  /// The files whose row meets a condition, newest session first.
  ///
  /// - Throws: ``DamagedRow`` for an unreadable row; discard the cache then.
  private func files(_ condition: String, _ arguments: StatementArguments) throws -> [AttachedFile]
  {
    try queue.query { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT \(Self.columns), owner FROM file LEFT JOIN owner USING (session)
          WHERE \(condition) ORDER BY session DESC
          """)
      return try Row.fetchAll(statement, arguments: arguments).map(Self.file)
    }
  }

  /// The files recorded at a path.
  func at(_ path: String) throws -> [AttachedFile] { try files("path = ?", [path]) }

  /// The files recorded at a path that are not gone.
  func here(at path: String) throws -> [AttachedFile] { try at(path).filter { !$0.isGone } }

  /// The file of a session.
  func of(_ session: SessionID) throws -> AttachedFile? {
    try files("session = ?", [session.description]).first
  }

  /// The files with a status's number.
  func numbered(_ status: FileStatus) throws -> [AttachedFile] {
    try files(
      "device = ? AND inode = ?",
      [Int64(bitPattern: status.device), Int64(bitPattern: status.inode)])
  }

  /// The files that are read from an offset on, or from a later one.
  func continuing(from base: Int64) throws -> [AttachedFile] {
    try files("base >= ? AND base > 0 AND inode <> 0", [base])
  }

  /// The files in a folder.
  func inFolder(_ folder: String) throws -> [AttachedFile] {
    try files("folder = ? AND inode <> 0", [folder])
  }

  /// The files in a folder, and those that were there last.
  func ever(in folder: String) throws -> [AttachedFile] { try files("folder = ?", [folder]) }

  /// The files that are gone.
  func gone() throws -> [AttachedFile] { try files("inode = 0", []) }

  /// The files whose session has been idle too long.
  func idle(at now: Timestamp) throws -> [AttachedFile] {
    try files("length IS NULL AND idleAt <= ?", [now.milliseconds])
  }

  /// The files whose session is idle for too long only after a time.
  func idle(after time: Timestamp) throws -> [AttachedFile] {
    try files("length IS NULL AND idleAt > ?", [time.milliseconds])
  }

  /// The files whose session continues.
  func open() throws -> [AttachedFile] { try files("length IS NULL", []) }

  /// The renamed files whose session continues.
  func rotated() throws -> [AttachedFile] { try files("rotated AND length IS NULL", []) }

  /// The folders that contain files; one index search each.
  func folders() throws -> [String] {
    try queue.query { database in
      try String.fetchAll(
        database,
        sql: """
          WITH RECURSIVE found(folder) AS (
            SELECT min(folder) FROM file
            UNION ALL
            SELECT (SELECT min(folder) FROM file WHERE folder > found.folder) FROM found
            WHERE folder IS NOT NULL)
          SELECT folder FROM found WHERE folder IS NOT NULL
          """)
    }
  }

  func save(_ file: AttachedFile) throws {
    isChanged = true
    try queue.change { try Self.save(file, in: $0) }
  }

  private static func save(_ file: AttachedFile, in database: Database) throws {
    let source = file.source
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO file(\(columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    ).execute(arguments: [
      file.session.description, source.path, file.folder, Int64(bitPattern: source.device),
      Int64(bitPattern: source.inode), source.base, source.length.map(Int64.init),
      source.headLength,
      source.headHash, file.seen, file.link.map { Data($0.encoded) }, file.changed.nanoseconds,
      file.isRotated, file.isCompressed, file.idleAt.milliseconds,
    ])
    guard let owner = source.owner else {
      return try database.execute(
        sql: "DELETE FROM owner WHERE session = ?", arguments: [file.session.description])
    }
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO owner(session, owner) VALUES (?, ?)"
    ).execute(arguments: [file.session.description, Int64(owner)])
  }

  func remove(_ session: SessionID) throws {
    isChanged = true
    try queue.change {
      for table in ["file", "owner"] {
        try $0.execute(
          sql: "DELETE FROM \(table) WHERE session = ?", arguments: [session.description])
      }
    }
  }

  private static func file(_ row: Row) throws -> AttachedFile {
    guard let session = SessionID(try row.value("session") as String) else { throw DamagedRow() }
    let source = Sidecar.Source(
      path: try row.value("path"), device: UInt64(bitPattern: try row.value("device") as Int64),
      inode: UInt64(bitPattern: try row.value("inode") as Int64),
      owner: (try row.value("owner", in: 0...Int64(UInt32.max)) as Int64?).map { UInt32($0) },
      base: try row.value("base", in: Sidecar.byteCounts),
      length: (try row.value("length", in: Sidecar.byteCounts) as Int64?).map { StreamOffset($0) },
      headLength: try row.value("headLength", in: 0...Sidecar.Source.longestHead),
      headHash: try row.value("headHash"))
    let link = (try row.value("link") as Data?).flatMap { try? Link(encoded: Array($0)[...]) }
    return AttachedFile(
      session: session, source: source, seen: try row.value("seen", in: Sidecar.byteCounts),
      link: link, changed: FileTime(nanoseconds: try row.value("changed")),
      isRotated: try row.value("rotated"),
      isCompressed: try row.value("compressed"),
      idleAt: Timestamp(milliseconds: try row.value("idleAt")))
  }

  // MARK: Passes

  func pass() throws -> Pass {
    try queue.query { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT since, fullAt, consent, sources, boot, dirty FROM pass LEFT JOIN consent USING (id)
          WHERE id = 1
          """)
      guard let row = try Row.fetchOne(statement) else { return Pass() }
      let attached = try Row.fetchAll(database, sql: "SELECT pattern, since FROM attached")
        .map { row in
          (try row.value("pattern") as String, Timestamp(milliseconds: try row.value("since")))
        }
      return Pass(
        since: FileTime(nanoseconds: try row.value("since", in: 0...Int64.max)),
        fullAt: FileTime(nanoseconds: try row.value("fullAt", in: 0...Int64.max)),
        consent: (try row.value("consent") as String?).flatMap(Consent.init),
        sources: try row.value("sources"),
        attached: Dictionary(attached, uniquingKeysWith: { first, _ in first }),
        boot: try row.value("boot"), isDirty: try row.value("dirty"))
    }
  }

  func save(_ pass: Pass) throws {
    let isAttachedKnown = try self.pass().attached == pass.attached
    let next = isChanged && !isInMemory ? try max(number(), noted) + 1 : nil
    try queue.change { database in
      if let next {
        try database.execute(
          sql: "INSERT OR REPLACE INTO number(id, number) VALUES (1, ?)", arguments: [next])
      }
      if !isAttachedKnown { try Self.save(attached: pass.attached, in: database) }
      try database.execute(
        sql: """
          INSERT OR REPLACE INTO pass(id, since, fullAt, sources, boot, dirty)
          VALUES (1, ?, ?, ?, ?, ?)
          """,
        arguments: [
          pass.since.nanoseconds, pass.fullAt.nanoseconds, pass.sources, pass.boot, pass.isDirty,
        ])
      guard let consent = pass.consent else {
        return try database.execute(sql: "DELETE FROM consent")
      }
      try database.execute(
        sql: "INSERT OR REPLACE INTO consent(id, consent) VALUES (1, ?)",
        arguments: [consent.rawValue])
    }
    guard let next else { return }
    isChanged = false
    // Without it the next pass rebuilds the cache.
    try? AtomicFile.write(Array(String(next).utf8), to: numberPath, isDurable: false)
  }

  /// Whether the last pass that changed this cache was the home's last one: a person or a backup may
  /// have put back an older cache.
  func isLatest() throws -> Bool { try number() == noted }

  private func number() throws -> Int64 {
    try queue.query { try Int64.fetchOne($0, sql: "SELECT number FROM number") } ?? 0
  }

  /// The number beside the cache; 0 if there is none.
  private var noted: Int64 {
    guard let text = try? AtomicFile.readStart(numberPath, count: 20) else { return 0 }
    return Int64(String(decoding: text, as: UTF8.self)) ?? 0
  }

  private static func save(attached: [String: Timestamp], in database: Database) throws {
    try database.execute(sql: "DELETE FROM attached")
    for (pattern, since) in attached {
      try database.execute(
        sql: "INSERT INTO attached(pattern, since) VALUES (?, ?)",
        arguments: [pattern, since.milliseconds])
    }
  }

  /// Makes the next pass rebuild the cache unless this one says that it has ended: it may die
  /// before it records what it changes, or record it in memory only.
  ///
  /// - Throws: ``Platform/SystemError`` if the next one could take a former state of the database
  ///   for the present one.
  func distrust() throws {
    var pass = try pass()
    guard !pass.isDirty else { return }
    if isInMemory, try !CacheDatabase.note(Self.behindSuffix, beside: path) { return }
    pass.isDirty = true
    try save(pass)
  }

  /// All files.
  func all() throws -> [AttachedFile] { try files("TRUE", []) }

  /// Replaces all files.
  func replace(_ files: [AttachedFile]) throws {
    isChanged = true
    try queue.change { database in
      try database.execute(sql: "DELETE FROM file; DELETE FROM owner")
      for file in files { try Self.save(file, in: database) }
    }
  }

  /// Empties the cache, so that the next pass rebuilds it.
  func discard() throws {
    try queue.change {
      try $0.execute(
        sql: """
          DELETE FROM file; DELETE FROM owner; DELETE FROM pass; DELETE FROM consent;
          DELETE FROM attached; DELETE FROM problem; DELETE FROM doubt; DELETE FROM disturbed;
          DELETE FROM refusal; DELETE FROM number; DELETE FROM awaited;
          DELETE FROM linked
          """)
    }
  }

  // MARK: Problems

  /// Paths that have to be examined again.
  func problems() throws -> [String: AttachProblem] {
    try queue.query { database in
      var problems: [String: AttachProblem] = [:]
      for row in try Row.fetchAll(database, sql: "SELECT path, reason FROM problem") {
        problems[try row.value("path")] = .unreadable(try row.value("reason"))
      }
      for row in try Row.fetchAll(database, sql: "SELECT path, session FROM doubt") {
        guard let session = SessionID(try row.value("session") as String) else {
          throw DamagedRow()
        }
        problems[try row.value("path")] = .doubted(session)
      }
      for row in try Row.fetchAll(database, sql: "SELECT path, again FROM disturbed") {
        problems[try row.value("path")] = .disturbed(isAgain: try row.value("again"))
      }
      return problems
    }
  }

  /// Makes the next pass send a file again that holds other bytes than were sent: as a new generation
  /// of its session, or as another session.
  func doubt(_ session: SessionID) throws {
    guard let file = try of(session), !file.isGone else { return }
    try queue.change { try Self.save(.doubted(session), at: file.source.path, in: $0) }
  }

  func save(_ problems: [String: AttachProblem]) throws {
    try queue.change { database in
      try database.execute(sql: "DELETE FROM problem; DELETE FROM doubt; DELETE FROM disturbed")
      for (path, problem) in problems { try Self.save(problem, at: path, in: database) }
      try database.execute(
        sql: "DELETE FROM refusal WHERE path NOT IN (SELECT path FROM problem)")
    }
  }

  /// Files that could not be read, and for which sessions wait.
  func awaited() throws -> Set<AwaitedFile> {
    try queue.query { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT session, device, inode, modified FROM awaited")
      return try Set(
        rows.map { row in
          guard let session = SessionID(try row.value("session") as String) else {
            throw DamagedRow()
          }
          return AwaitedFile(
            session: session,
            number: .init(
              device: UInt64(bitPattern: try row.value("device")),
              inode: UInt64(bitPattern: try row.value("inode"))),
            modified: FileTime(nanoseconds: try row.value("modified")))
        })
    }
  }

  func save(_ awaited: Set<AwaitedFile>) throws {
    guard try awaited != self.awaited() else { return }
    try queue.change { database in
      try database.execute(sql: "DELETE FROM awaited")
      for file in awaited {
        try database.execute(
          sql: """
            INSERT OR REPLACE INTO awaited(session, device, inode, modified) VALUES (?, ?, ?, ?)
            """,
          arguments: [
            file.session.description, Int64(bitPattern: file.number.device),
            Int64(bitPattern: file.number.inode), file.modified.nanoseconds,
          ])
      }
    }
  }

  /// Sessions to whose file a link led in the last pass.
  func linked() throws -> Set<SessionID> {
    try queue.query { database in
      try Set(
        Row.fetchAll(database, sql: "SELECT session FROM linked").map { row in
          guard let session = SessionID(try row.value("session") as String) else {
            throw DamagedRow()
          }
          return session
        })
    }
  }

  func save(linked: Set<SessionID>) throws {
    guard try linked != self.linked() else { return }
    try queue.change { database in
      try database.execute(sql: "DELETE FROM linked")
      for session in linked {
        try database.execute(
          sql: "INSERT INTO linked(session) VALUES (?)", arguments: [session.description])
      }
    }
  }

  /// Why a compressed file cannot be unpacked, which would take long to find out again; nil if that
  /// is unknown, or if the file has changed since.
  func refusal(of path: String, _ status: FileStatus, _ limit: UnpackLimit) throws -> SystemError? {
    try queue.query { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT error FROM refusal
          WHERE path = ? AND device = ? AND inode = ? AND length = ? AND changed = ? AND maximum = ?
          """)
      let row = try Row.fetchOne(
        statement, arguments: Self.content(of: path, status, limit))
      guard let row else { return nil }
      let number = try row.value("error") as Int64
      return Self.refusals.first { Int64($0) == number }.map { error in
        let isTooLarge = error == SystemError.Number.overflow
        return SystemError(
          operation: isTooLarge ? CompressedFile.tooLarge : "unpack", path: path, errno: error)
      }
    }
  }

  /// Remembers why a compressed file cannot be unpacked, if it is for its content.
  func refuse(
    _ path: String, _ status: FileStatus, _ limit: UnpackLimit, because error: SystemError
  ) throws {
    guard error.path == path, Self.refusals.contains(error.errno) else { return }
    try queue.change { database in
      try database.execute(
        sql: """
          INSERT OR REPLACE INTO refusal(path, device, inode, length, changed, maximum, error)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: Self.content(of: path, status, limit) + [Int64(error.errno)])
    }
  }

  /// The columns by which a refusal is found again while the file stays as it is.
  private static func content(
    of path: String, _ status: FileStatus, _ limit: UnpackLimit
  ) -> StatementArguments {
    [
      path, Int64(bitPattern: status.device), Int64(bitPattern: status.inode), status.length,
      status.changed.nanoseconds, limit.maximum?.bytes ?? -1,
    ]
  }

  /// The errors of a content: too large, and damaged.
  private static let refusals = [SystemError.Number.overflow, SystemError.Number.malformed]

  private static func save(
    _ problem: AttachProblem, at path: String, in database: Database
  ) throws {
    switch problem {
    case .unreadable(let reason):
      try database.execute(
        sql: "INSERT OR REPLACE INTO problem(path, reason) VALUES (?, ?)",
        arguments: [path, reason])
    case .doubted(let session):
      try database.execute(sql: "DELETE FROM problem WHERE path = ?", arguments: [path])
      try database.execute(
        sql: "INSERT OR REPLACE INTO doubt(path, session) VALUES (?, ?)",
        arguments: [path, session.description])
    case .disturbed(let isAgain):
      try database.execute(
        sql: "INSERT OR REPLACE INTO disturbed(path, again) VALUES (?, ?)",
        arguments: [path, isAgain])
    }
  }
}
