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
  /// - Returns: those that the session had not declared before.
  /// - Throws: ``Platform/SystemError``.
  @discardableResult
  public func declare(
    _ names: some Sequence<ScenarioName>, in session: SessionID, at now: Timestamp
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
    let file = try Descriptor(
      opening: home.files(for: session).declared, [.write, .append, .create])
    try file.write(Array(lines.utf8))
    do {
      try ControlFile(home).change { states in
        for name in new where states[name] == nil { states[name] = ScenarioState(created: now) }
      }
    } catch let error as SystemError where error.isDenied && home.owner != nil {
      // A machine's states are root's, who collects what users declare.
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

  private func names(at path: String) throws -> [ScenarioName] {
    do {
      let text = try AtomicFile.read(path)
      return text.split(separator: 0x0a).prefix(Self.mostOfSession).compactMap {
        ScenarioName(String(decoding: $0, as: UTF8.self))
      }
    } catch let error as SystemError where error.isNotFound {
      return []
    }
  }
}
