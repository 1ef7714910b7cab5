public import Platform

/// The scenarios that a home's sessions declare, and their states.
public struct DeclaredScenarios: Sendable {
  private let home: Home

  /// The declared scenarios of a home.
  public init(_ home: Home) { self.home = home }

  /// Maximum number of scenarios that a session can declare.
  public static let mostOfSession = 64

  /// Declares scenarios in a session: they become known, and keep their state.
  ///
  /// - Parameters:
  ///   - names: the scenarios; those beyond ``mostOfSession`` are ignored.
  ///   - session: the session.
  ///   - now: the time.
  ///   - machine: see ``ControlFile/change(on:_:)``.
  /// - Returns: those that the session had not declared before.
  /// - Throws: ``Platform/SystemError``.
  @discardableResult
  public func declare(
    _ names: some Sequence<ScenarioName>, in session: SessionID, at now: Timestamp,
    on machine: Machine
  ) throws -> [ScenarioName] {
    let known = try self.names(of: session)
    let room = max(0, Self.mostOfSession - known.count)
    var new: [ScenarioName] = []
    for name in names where !known.contains(name) && !new.contains(name) && new.count < room {
      new.append(name)
    }
    guard !new.isEmpty else { return [] }
    let lines = new.map { "\($0)\n" }.joined()
    try Directory.make(home.declaredPath)
    let declared = try Descriptor(
      opening: home.files(for: session).declared, [.write, .append, .create])
    try declared.write(Array(lines.utf8))
    let file = ControlFile(home)
    // A machine's states are root's, which collects users' declarations.
    guard file.isOurs else { return new }
    try file.change(on: machine) { states in
      for name in new where states[name] == nil { states[name] = ScenarioState(created: now) }
    }
    return new
  }

  /// Withdraws a session's declarations; the scenarios keep their state.
  ///
  /// - Returns: the number of scenarios it had declared.
  /// - Throws: ``Platform/SystemError``.
  @discardableResult
  public func undeclare(_ session: SessionID) throws -> Int {
    let count = try names(of: session).count
    try File.remove(home.files(for: session).declared)
    return count
  }

  /// The scenarios that a session has declared.
  ///
  /// - Throws: ``Platform/SystemError``.
  public func names(of session: SessionID) throws -> [ScenarioName] {
    try names(at: home.files(for: session).declared)
  }

  /// The scenarios that unsealed sessions have declared.
  ///
  /// - Throws: ``Platform/SystemError``.
  public func names() throws -> Set<ScenarioName> {
    var found: Set<ScenarioName> = []
    for name in try Directory.names(in: home.declaredPath) where SessionID(name) != nil {
      found.formUnion(try names(at: "\(home.declaredPath)/\(name)"))
    }
    return found
  }

  private func names(at path: String) throws -> [ScenarioName] { try content(path).names }

  // MARK: Records not written

  /// No name begins with it: a line that does counts one record, by the index of its scenario's
  /// name.
  private static let mark: UInt8 = 0x7b
  /// Size at which counting stops: some 300,000 records.
  private static let longest = 1 << 20

  /// Counts a record of another process that was not written because its scenario is off.
  ///
  /// - Parameter name: the scenario, which the session has declared; others are not counted.
  /// - Returns: whether it is the first of its scenario in the session.
  /// - Throws: ``Platform/SystemError``.
  func leaveOut(_ name: ScenarioName, in session: SessionID) throws -> Bool {
    let path = home.files(for: session).declared
    let known = try content(path)
    guard let place = known.names.firstIndex(of: name) else { return false }
    if known.length < Self.longest {
      let file = try Descriptor(opening: path, [.write, .append])
      try file.write([Self.mark] + Array("\(place)\n".utf8))
    }
    return known.leftOut[name] == nil
  }

  /// Number of records of other processes that were not written.
  ///
  /// - Throws: ``Platform/SystemError``.
  func leftOut(of session: SessionID) throws -> [ScenarioName: Int] {
    try content(home.files(for: session).declared).leftOut
  }

  private struct Content {
    var length = 0
    var names: [ScenarioName] = []
    var leftOut: [ScenarioName: Int] = [:]
  }

  private func content(_ path: String) throws -> Content {
    var content = Content()
    do {
      // Only a foreign file is that long.
      guard try FileStatus(path)?.length ?? 0 <= 2 * Self.longest else { return content }
      let text = try AtomicFile.read(path)
      content.length = text.count
      for line in text.split(separator: 0x0a) {
        let word = String(decoding: line, as: UTF8.self)
        if line.first == Self.mark {
          guard let place = Int(word.dropFirst()), content.names.indices.contains(place) else {
            continue
          }
          content.leftOut[content.names[place], default: 0] += 1
        } else if content.names.count < Self.mostOfSession, let name = ScenarioName(word) {
          content.names.append(name)
        }
      }
    } catch let error as SystemError where error.isNotFound {
      return content
    }
    return content
  }
}
