package import Platform

/// Local copies deleted by retention, kept for a while.
///
/// `trash/<count>.<day>/` holds the files of the sessions deleted on one day of the home's lived
/// time, under their own names. If a day's count was lost, its time starts again.
package struct Trash: Sendable {
  private let path: String
  private let home: Home

  /// The trash of a home.
  package init(_ home: Home) { (self.home, path) = (home, home.path + "/trash") }

  /// Sessions deleted on one day.
  private struct Day: Equatable {
    let counter: String
    let number: Int64

    init(at mark: LivedTime.Mark) { (counter, number) = (mark.counter, mark.seconds / 86_400) }

    init?(_ name: String) {
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 2, let number = Int64(parts[1]), number >= 0 else { return nil }
      (counter, self.number) = (String(parts[0]), number)
    }

    var name: String { "\(counter).\(number)" }

    /// Lived time since the end of the day; nil if it belongs to another count.
    func age(at mark: LivedTime.Mark) -> Duration? {
      guard counter == mark.counter, number <= mark.seconds / 86_400 else { return nil }
      return .seconds(max(0, mark.seconds - (number + 1) * 86_400))
    }
  }

  /// The days, in order.
  ///
  /// A link named like one is none: it may lead to files that are not the trash's.
  ///
  /// - Parameter skip: called with the path of anything else that is named like one.
  private func days(skipping skip: (String) -> Void = { _ in }) throws -> [Day] {
    let days = try Directory.names(in: path).compactMap(Day.init).filter { day in
      let folder = "\(path)/\(day.name)"
      guard let status = try? FileStatus(folder), status.kind != .directory else { return true }
      skip(folder)
      return false
    }
    return days.sorted { $0.number < $1.number }
  }

  // MARK: In and out

  /// Moves a session's log, sidecar and state into the trash; its other files stay.
  ///
  /// The sidecar goes last, so that an interrupted move is found again by it, and the parts in order
  /// before the live log: what is left then is a log of which the beginning was pruned, which the next
  /// pass can prove.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func add(_ files: SessionFiles, at mark: LivedTime.Mark) throws {
    let folder = "\(path)/\(Day(at: mark).name)"
    try Directory.make(folder, isDurable: true)
    for name in try Self.kept(of: files) {
      do {
        try File.rename("\(files.directory)/\(name)", to: "\(folder)/\(name)")
      } catch {
        // The missing path may be the target folder.
        guard try FileStatus("\(files.directory)/\(name)") == nil else { throw error }
      }
    }
  }

  /// Names of the files that hold a session's log, in stream order, followed by that of its sidecar.
  private static func kept(of files: SessionFiles) throws -> [String] {
    let parts = try files.namedParts().flatMap { [$0.plain, $0.compressed] }
    // A session that was not sealed keeps what is known of its upload, such as its withdrawal.
    return (parts + [files.log, files.rotated, files.uploadState, files.sidecar])
      .map { String($0.dropFirst(files.directory.count + 1)) }
  }

  /// Restores a session, whose age starts again.
  ///
  /// - Returns: whether it was in the trash.
  /// - Throws: ``Platform/SystemError``; ``SessionLog/SidecarError``.
  package func restore(
    _ session: SessionID, at mark: LivedTime.Mark, holding lock: HomeLock
  ) throws -> Bool {
    lock.expect(home)
    let files = home.files(for: session)
    var isFound = false
    for day in try days() {
      let folder = "\(path)/\(day.name)"
      // A folder that cannot be read does not keep the session in another one.
      let names = (try? Directory.names(in: folder))?.filter { $0.hasPrefix("\(session).") } ?? []
      guard !names.isEmpty else { continue }
      try Directory.make(files.directory, isDurable: true)
      // Restore the sidecar first: a log without one would pass for a recorder's.
      for name in names.sorted(by: { $0.hasSuffix(".json") && !$1.hasSuffix(".json") }) {
        if name.hasSuffix(".json") {
          var sidecar = try Sidecar.load("\(folder)/\(name)")
          sidecar.agesFrom = mark
          try sidecar.save("\(folder)/\(name)")
        }
        try File.rename("\(folder)/\(name)", to: "\(files.directory)/\(name)")
      }
      Directory.removeIfEmpty(folder)
      isFound = true
    }
    guard isFound else { return false }
    // Without the marker no pass would find a session that was not sent before the next review.
    if !LocalSession(home, session).isSealed { try home.mark(session) }
    try Directory.synchronize(files.directory)
    return true
  }

  /// The sessions in the trash, with the lived time since their deletion.
  ///
  /// - Parameter skip: called with a line for a person about each folder that cannot be read, and
  ///   about what is no folder; nil to ignore the latter, and throw for the former.
  /// - Throws: ``Platform/SystemError``.
  package func sessions(
    at mark: LivedTime.Mark, skipping skip: ((String) -> Void)? = nil
  ) throws -> [SessionID: Duration] {
    var found: [SessionID: Duration] = [:]
    for (day, sessions) in try sessionsByDay(skipping: skip) {
      for session in sessions { found[session] = day.age(at: mark) ?? .zero }
    }
    return found
  }

  /// The sessions of each day, in order; see ``sessions(at:skipping:)``.
  private func sessionsByDay(
    skipping skip: ((String) -> Void)?
  ) throws -> [(day: Day, sessions: Set<SessionID>)] {
    func pass(_ error: SystemError) throws {
      guard let skip else { throw error }
      skip("\(error): what it has is left out")
    }
    var found: [(day: Day, sessions: Set<SessionID>)] = []
    var days: [Day] = []
    do {
      days = try self.days { skip?("\($0) is not a folder: skipped") }
    } catch let error as SystemError {
      try pass(error)
    }
    for day in days {
      do {
        found.append((day, try sessions(of: day)))
      } catch let error as SystemError {
        try pass(error)
      }
    }
    return found
  }

  /// The paths of the sidecars of all sessions in the trash, which may be missing.
  ///
  /// - Parameter skip: as for ``sessions(at:skipping:)``.
  /// - Throws: ``Platform/SystemError``.
  package func sidecarPaths(
    skipping skip: ((String) -> Void)? = nil
  ) throws -> [SessionID: String] {
    var paths: [SessionID: String] = [:]
    for (day, sessions) in try sessionsByDay(skipping: skip) {
      for session in sessions {
        let path = "\(self.path)/\(day.name)/\(session).json"
        // An interrupted move may have left other files of it in another day.
        if paths[session] == nil || File.exists(path) { paths[session] = path }
      }
    }
    return paths
  }

  /// The path of the sidecar of a session in the trash; nil if there is none.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func sidecarPath(of session: SessionID) throws -> String? {
    try days().lazy.map { "\(path)/\($0.name)/\(session).json" }.last(where: File.exists)
  }

  private func sessions(of day: Day) throws -> Set<SessionID> {
    Set(
      try Directory.names(in: "\(path)/\(day.name)").compactMap {
        $0.fields(between: ".").first.flatMap { SessionID(String($0)) }
      })
  }

  // MARK: Emptying

  /// Size of the trash in bytes.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func bytes() throws -> ByteCount { try days().map { try bytes(of: $0) }.total }

  private func bytes(of day: Day) throws -> ByteCount {
    try Directory.names(in: "\(path)/\(day.name)").map {
      ByteCount(try FileStatus("\(path)/\(day.name)/\($0)")?.length ?? 0)
    }.total
  }

  /// Deletes sessions that were in the trash long enough, and the oldest days while space is short.
  ///
  /// - Parameters:
  ///   - life: how long sessions stay, in lived time.
  ///   - mark: now.
  ///   - isTight: whether more space is needed; called again after each day.
  ///   - isHeld: whether a session stays nevertheless.
  ///   - delete: called with the sessions of a day to delete, the reason, and the function that
  ///     removes them.
  /// - Throws: ``Platform/SystemError``.
  package func empty(
    after life: Duration, at mark: LivedTime.Mark, whereTight isTight: () throws -> Bool,
    unlessHeld isHeld: (SessionID) -> Bool,
    _ delete: (Set<SessionID>, String, _ remove: () throws -> Void) throws -> Void
  ) throws {
    for day in try days() {
      guard let age = day.age(at: mark) else {
        // The count was lost: start its time again.
        try adopt(day, at: mark)
        continue
      }
      let isOver = age >= life
      guard try isOver || isTight() else { continue }
      let sessions = try sessions(of: day).filter { !isHeld($0) }
      guard !sessions.isEmpty else { continue }
      let reason = isOver ? "it was in the trash for \(Age.text(age))" : "room was wanted"
      try delete(sessions, reason) { try remove(sessions, of: day) }
    }
  }

  /// Deletes a session permanently.
  ///
  /// - Returns: whether it was in the trash.
  /// - Throws: ``Platform/SystemError``.
  package func remove(_ session: SessionID) throws -> Bool {
    var isFound = false
    for day in try days() where try sessions(of: day).contains(session) {
      try remove([session], of: day)
      isFound = true
    }
    return isFound
  }

  private func remove(_ sessions: Set<SessionID>, of day: Day) throws {
    let folder = "\(path)/\(day.name)"
    for name in try Directory.names(in: folder) {
      let session = name.fields(between: ".").first.flatMap { SessionID(String($0)) }
      guard session.map(sessions.contains) ?? true else { continue }
      try File.remove("\(folder)/\(name)")
    }
    Directory.removeIfEmpty(folder)
  }

  private func adopt(_ day: Day, at mark: LivedTime.Mark) throws {
    let (old, new) = ("\(path)/\(day.name)", "\(path)/\(Day(at: mark).name)")
    guard old != new else { return }
    try Directory.make(new, isDurable: true)
    for name in try Directory.names(in: old) {
      try File.rename("\(old)/\(name)", to: "\(new)/\(name)")
    }
    Directory.removeIfEmpty(old)
  }
}
