import Foundation
public import Platform

/// The files of one session on this machine.
public struct SessionFiles: Sendable {
  /// The day folder.
  public let directory: String
  /// The live log.
  public let log: String
  /// The sidecar.
  public let sidecar: String
  /// The lock that every writer shares.
  public let lock: String
  /// What the uploader looks for; removed at the seal.
  public let marker: String
  /// Stands from the first rotation on: there are parts to look for.
  public let rotated: String
  /// Space on the disk for the last records, given back at the end.
  public let reserve: String
  /// Until the seal, the uploader's note of the rules that redacted what was sent.
  public let redaction: String
  /// Until the seal, the scenarios that the session has declared.
  public let declared: String
  /// How the session's rotated parts are compressed and read.
  let compression: any PartCompression
}

/// The folder that holds all state of one user on this machine.
public struct Home: Sendable, Equatable {
  /// Its absolute path.
  public let path: String
  /// Whose it is in machine-wide mode; nil for a home that its user chose.
  public let owner: Account?
  /// How rotated parts are compressed and read.
  package private(set) var compression: any PartCompression = NoCompression()

  /// A home at a path.
  ///
  /// - Parameters:
  ///   - path: a relative one is taken from the working directory.
  ///   - owner: whose it is in machine-wide mode.
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

  /// The home that the environment names: `TIDEMARK_HOME`, else the user's part of
  /// ``MachineWide``, else the XDG state directory, else the usual place under the account's home
  /// directory.
  public static func locate(environment: [String: String]) -> Home {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let path = value("TIDEMARK_HOME") { return Home(path: path) }
    if MachineWide.isConfigured { return MachineWide.home(of: .current) }
    if let state = value("XDG_STATE_HOME") { return Home(path: state + "/tidemark") }
    let base = value("HOME") ?? Account.current.home ?? "/tmp"
    #if canImport(Darwin)
      return Home(path: base + "/Library/Application Support/tidemark")
    #else
      return Home(path: base + "/.local/state/tidemark")
    #endif
  }

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
  /// The markers of sessions that are not sealed.
  public var openPath: String { path + "/open" }
  /// What may be deleted freely.
  public var cachePath: String { path + "/cache" }
  /// The rule sets that redacted what was sent.
  public var rulesPath: String { path + "/rules" }
  /// What could not be sent, and why.
  public var quarantinePath: String { path + "/quarantine" }
  /// The count of the home's lived time, which every age is taken by.
  public var livedPath: String { path + "/lived.json" }
  /// What the home's scenarios are set to; in machine-wide mode the machine's.
  public var controlPath: String {
    owner == nil ? path + "/control" : MachineWide.controlPath
  }
  /// The scenarios that sessions declare, a file each.
  public var declaredPath: String { path + "/control/declared" }
  /// The lock of the one upload at a time.
  public var lockPath: String { path + "/lock" }

  /// Makes the folders that are missing, and lets nobody but the owner into the home.
  ///
  /// - Throws: ``SystemError``.
  public func create() throws {
    try Directory.make(path)
    try owner.map { try MachineWide.checkOwner(of: path, is: $0) }
    try closeToOthers()
    for folder in [sessionsPath, openPath, cachePath, quarantinePath] {
      try Directory.makeOne(folder)
    }
  }

  /// The files of a session.
  public func files(for session: SessionID) -> SessionFiles {
    files(for: session, in: "\(sessionsPath)/\(session.day)")
  }

  /// The files of a session in another folder than its own.
  package func files(for session: SessionID, in directory: String) -> SessionFiles {
    let base = "\(directory)/\(session)"
    return SessionFiles(
      directory: directory, log: base + ".log", sidecar: base + ".json", lock: base + ".lock",
      marker: "\(openPath)/\(session)", rotated: base + ".rotated",
      reserve: base + ".reserve", redaction: base + ".redaction",
      declared: "\(declaredPath)/\(session)", compression: compression)
  }

  /// Sessions that are not sealed, by their markers.
  ///
  /// - Throws: ``SystemError``.
  public func openSessions() throws -> [SessionID] {
    try Directory.names(in: openPath).compactMap(SessionID.init).sorted()
  }

  /// Marks a session as not sealed.
  ///
  /// - Throws: ``SystemError``.
  public func mark(_ session: SessionID) throws {
    _ = try Descriptor(opening: files(for: session).marker, [.write, .create])
  }

  /// Days that have sessions, `2026-01-22`, in order.
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
          ? name.split(separator: ".").first.flatMap { SessionID(String($0)) } : nil
      }
    ).sorted()
  }

  /// Bytes that the sessions' files take.
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
