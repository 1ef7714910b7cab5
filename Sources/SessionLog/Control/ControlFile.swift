import Foundation
public import Platform

/// `control/state.json` of a home: the states of its scenarios.
///
/// Unknown keys are preserved. In machine-wide mode folder and file are root's, and others read
/// them.
public struct ControlFile: Sendable {
  private let home: Home

  /// The file of a home.
  public init(_ home: Home) { self.home = home }

  /// The path of the file.
  var path: String { home.controlPath + "/state.json" }

  /// The states of scenarios; empty if there is no file.
  ///
  /// A scenario with an unreadable state is omitted: it is off.
  ///
  /// - Throws: ``Platform/SystemError``; `DecodingError` if the file is damaged.
  public func scenarios() throws -> [ScenarioName: ScenarioState] {
    try Self.scenarios(in: object())
  }

  /// Changes the states, under an exclusive lock.
  ///
  /// A damaged file is kept as `state.json.damaged`, and replaced by an empty one.
  ///
  /// - Parameters:
  ///   - machine: its random numbers name what is set aside.
  ///   - body: changes the states; the file is written if they differ.
  /// - Throws: ``Platform/SystemError``, also where the file is root's; errors of `body`.
  public func change<Value>(
    on machine: Machine, _ body: (inout [ScenarioName: ScenarioState]) throws -> Value
  ) throws -> Value {
    if home.owner == nil {
      try Directory.make(home.controlPath)
    } else {
      guard isOurs else {
        throw SystemError(
          operation: "change, as it is root's,", path: path, errno: SystemError.Number.notPermitted)
      }
      try MachineWide.makeControl(on: machine)
    }
    // Another user who could open it might hold it for ever.
    let lock = try Descriptor(opening: home.controlPath + "/lock", [.readWrite, .create])
    _ = try lock.lock(.exclusive, waits: true)
    var object: [String: Any] = [:]
    do {
      object = try self.object()
    } catch is DecodingError {
      try File.rename(path, to: path + ".damaged")
    }
    let before = Self.scenarios(in: object)
    var after = before
    let value = try body(&after)
    guard after != before else { return value }
    object["format"] = 1
    let encoder = JSONEncoder()
    object["scenarios"] = try JSONSerialization.jsonObject(
      with: encoder.encode(
        Dictionary(uniqueKeysWithValues: after.map { ($0.key.description, $0.value) })))
    let json = try JSONSerialization.data(
      withJSONObject: object, options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
    try AtomicFile.write(
      Array(json) + [0x0a], to: path, mode: home.owner == nil ? 0o600 : 0o644)
    return value
  }

  /// Whether this process may change it.
  var isOurs: Bool { home.owner == nil || Account.hasRootsRights }

  private func object() throws -> [String: Any] {
    if home.owner != nil {
      // A change by root sets it aside.
      if isOurs, MachineWide.isForeign(home.controlPath) { return [:] }
      try MachineWide.checkIsRoots(home.controlPath)
    }
    let bytes: [UInt8]
    do {
      bytes = try AtomicFile.read(path)
    } catch let error as SystemError where error.isNotFound {
      return [:]
    }
    guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(path) holds no JSON object"))
    }
    return object
  }

  private static func scenarios(in object: [String: Any]) -> [ScenarioName: ScenarioState] {
    let rows = object["scenarios"] as? [String: Any] ?? [:]
    var found: [ScenarioName: ScenarioState] = [:]
    for (text, row) in rows {
      guard let name = ScenarioName(text), JSONSerialization.isValidJSONObject(row),
        let json = try? JSONSerialization.data(withJSONObject: row),
        let state = try? JSONDecoder().decode(ScenarioState.self, from: json)
      else { continue }
      found[name] = state
    }
    return found
  }
}
