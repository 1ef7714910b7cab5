import Foundation
public import Platform

/// The files of one session on this machine.
public struct SessionFiles: Sendable {
  /// The day folder.
  public let directory: String
  /// The path of the files in that folder without their endings, which are appended as needed: most
  /// steps of a pass need one or two of them.
  let stem: String
  /// The live log.
  public var log: String { stem + ".log" }
  /// The sidecar.
  public var sidecar: String { stem + ".json" }
  /// The lock shared by all writers.
  public var lock: String { stem + ".lock" }
  /// The file by which the uploader finds the session; removed at the seal.
  public let marker: String
  /// Exists from the first rotation on, shows that there may be parts, and notes where the newest one
  /// ends; made again from the parts' names if it is lost.
  public var rotated: String { stem + ".rotated" }
  /// Disk space reserved for the last records, released at the end.
  public var reserve: String { stem + ".reserve" }
  /// Until the seal, the uploader's state: the rules that redacted sent bytes, and more.
  ///
  /// The ending names only the first of them, and is part of the home's format.
  public var uploadState: String { stem + ".redaction" }
  /// Until the seal, the scenarios that the session has declared.
  public let declared: String
  /// How the session's rotated parts are compressed and read.
  let compression: any PartCompression
}

/// The folder with all state of one user on this machine.
public struct Home: Sendable, Equatable {
  /// Its absolute path.
  public let path: String
  /// Its owner in machine-wide mode; nil for a home that its user chose.
  public let owner: Account?
  /// How rotated parts are compressed and read.
  package private(set) var compression: any PartCompression = NoCompression()

  /// A home at a path.
  ///
  /// - Parameters:
  ///   - path: the path; a relative one is relative to the working directory.
  ///   - owner: its owner in machine-wide mode.
  public init(path: String, owner: Account? = nil) {
    self.owner = owner
    let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    self.path =
      trimmed.hasPrefix("/")
      ? trimmed : FileManager.default.currentDirectoryPath + "/" + trimmed
  }

  /// The same home with another way to compress rotated parts.
  package func compressing(with compression: some PartCompression) -> Home {
    var home = self
    home.compression = compression
    return home
  }

  /// Whether both are the same folder of the same user.
  public static func == (left: Home, right: Home) -> Bool {
    left.path == right.path && left.owner == right.owner
  }

  /// The home for an environment: `TIDEMARK_HOME`, else the user's part of ``MachineWide``, else in
  /// the XDG state directory, else in the default place under the account's home directory.
  public static func locate(environment: [String: String]) -> Home {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let path = value("TIDEMARK_HOME") { return Home(path: path) }
    if MachineWide.isConfigured { return MachineWide.home(of: .current) }
    if let state = value("XDG_STATE_HOME") { return Home(path: state + "/tidemark") }
    let base = value("HOME") ?? Account.current.home ?? Self.noFolder
    #if canImport(Darwin)
      return Home(path: base + "/Library/Application Support/tidemark")
    #else
      return Home(path: base + "/.local/state/tidemark")
    #endif
  }

  /// Where an account without a home directory has its files: nowhere, because others could create
  /// them first in a folder such as `/tmp`.
  private static let noFolder = "/nonexistent"

  /// The configuration file.
  public var configurationPath: String {
    owner == nil ? path + "/tidemark.yaml" : MachineWide.configurationPath
  }
  /// The device record.
  public var devicePath: String {
    owner == nil ? path + "/device.json" : MachineWide.devicePath
  }
  /// The day folders.
  public var sessionsPath: String { path + "/sessions" }
  /// The markers of sessions that passes visit: all that are not sealed, except attached ones of
  /// which everything was sent, until their file grows or ends.
  public var openPath: String { path + "/open" }
  /// Files that may be deleted at any time.
  public var cachePath: String { path + "/cache" }
  /// The rule sets that redacted sent logs.
  public var rulesPath: String { path + "/rules" }
  /// Reasons why sessions could not be sent.
  public var quarantinePath: String { path + "/quarantine" }
  /// Exists once a session was recorded under `consent: metadata`.
  private var withheldPath: String { path + "/withheld" }
  /// The count of the home's lived time, which measures every age.
  public var livedPath: String { path + "/lived.json" }
  /// The states of the home's scenarios; in machine-wide mode the machine's.
  public var controlPath: String {
    owner == nil ? path + "/control" : MachineWide.controlPath
  }
  /// The scenarios that sessions declare, one file per session.
  public var declaredPath: String { path + "/control/declared" }
  /// The lock that permits one upload at a time.
  public var lockPath: String { path + "/lock" }

  /// Creates missing folders, and closes the home to everyone but its owner.
  ///
  /// - Throws: ``SystemError``; an error that names the owner, if the home is another user's.
  public func create() throws {
    try Directory.make(path)
    if let owner {
      try MachineWide.checkOwner(of: path, is: owner)
    } else {
      try checkTrust()
    }
    try closeToOthers()
    for folder in [sessionsPath, openPath, cachePath, quarantinePath] {
      try Directory.makeOne(folder)
    }
  }

  /// The files of a session.
  public func files(for session: SessionID) -> SessionFiles {
    files(for: session, in: "\(sessionsPath)/\(session.day)")
  }

  /// The files of a session in a folder other than its own.
  package func files(for session: SessionID, in directory: String) -> SessionFiles {
    SessionFiles(
      directory: directory, stem: "\(directory)/\(session)", marker: "\(openPath)/\(session)",
      declared: "\(declaredPath)/\(session)", compression: compression)
  }

  /// Sessions that passes visit, by their markers; see ``openPath``.
  ///
  /// - Throws: ``SystemError``.
  public func openSessions() throws -> [SessionID] {
    try Directory.names(in: openPath).compactMap(SessionID.init).sorted()
  }

  /// Makes passes visit a session.
  ///
  /// - Throws: ``SystemError``.
  public func mark(_ session: SessionID) throws {
    _ = try Descriptor(opening: files(for: session).marker, [.write, .create])
  }

  /// Whether a session was ever recorded whose log must not be sent: without its sidecar, nothing says
  /// which one that was.
  package var hasWithheldLogs: Bool { File.exists(withheldPath) }

  /// Records that the home has sessions whose logs must not be sent.
  ///
  /// - Throws: ``SystemError``.
  func noteWithheldLogs() throws {
    guard !hasWithheldLogs else { return }
    try AtomicFile.write([], to: withheldPath)
  }

  /// Days with sessions, `2026-01-22`, in order.
  ///
  /// - Throws: ``SystemError``.
  public func days() throws -> [String] {
    try Directory.names(in: sessionsPath)
      .filter { Timestamp(iso: $0 + "T00:00:00Z") != nil }
      .sorted()
  }

  /// Sessions of a day, in order.
  ///
  /// - Throws: ``SystemError``.
  public func sessions(day: String) throws -> [SessionID] {
    let names = try Directory.names(in: "\(sessionsPath)/\(day)")
    return Set(
      names.compactMap { name in
        [".log", ".log.zst", ".json"].contains(where: name.hasSuffix)
          ? name.fields(between: ".").first.flatMap { SessionID(String($0)) } : nil
      }
    ).sorted()
  }

  /// Sessions of all days, in order.
  ///
  /// - Throws: ``SystemError``.
  package func sessions() throws -> [SessionID] { try days().flatMap(sessions(day:)) }

  /// Rotated sessions of a day, in order.
  ///
  /// - Throws: ``SystemError``.
  package func rotatedSessions(day: String) throws -> [SessionID] {
    try Directory.names(in: "\(sessionsPath)/\(day)").compactMap { name in
      name.hasSuffix(".rotated") ? SessionID(String(name.dropLast(".rotated".count))) : nil
    }.sorted()
  }

  /// Makes lost notes of rotations again, for all sessions of a day.
  ///
  /// - Returns: the sessions whose note was lost.
  /// - Throws: ``SystemError``.
  package func restoreRotationNotes(day: String) throws -> [SessionID] {
    let names = try Directory.names(in: "\(sessionsPath)/\(day)")
    let candidates = names.compactMap { name -> SessionID? in
      guard name.hasSuffix(".log") || name.hasSuffix(".log.zst") else { return nil }
      let fields = name.fields(between: ".")
      // A live log's name has no offset.
      guard fields.count > 2, fields[1].first?.isNumber == true else { return nil }
      return SessionID(String(fields[0]))
    }
    return try Set(candidates).sorted().filter { try files(for: $0).restoreNote() }
  }

  /// Removes what killed processes left in the day folders.
  package func sweepDays(at now: Timestamp) {
    for day in (try? days()) ?? [] { AtomicFile.sweep("\(sessionsPath)/\(day)", now: now) }
  }

  /// Size of all sessions' files in bytes.
  ///
  /// - Throws: ``SystemError``.
  public func sessionBytes() throws -> ByteCount {
    var total: ByteCount = 0
    for day in try days() {
      for name in try Directory.names(in: "\(sessionsPath)/\(day)") {
        total += ByteCount((try? FileStatus("\(sessionsPath)/\(day)/\(name)"))?.length ?? 0)
      }
    }
    return total
  }
}
