import Foundation
import Platform

/// `control/state.json` of a home: what its scenarios are set to.
///
/// Keys that this version does not know are kept. In machine-wide mode the file is root's, and others
/// read it.
public struct ControlFile: Sendable {
  private let home: Home

  /// The file of a home.
  public init(_ home: Home) { self.home = home }

  /// The path of the file.
  var path: String { home.controlPath + "/state.json" }

  /// What is remembered of scenarios; empty where there is no file.
  ///
  /// A scenario of which something cannot be read is left out: it is off.
  ///
  /// - Throws: ``Platform/SystemError``; `DecodingError` where the file is damaged.
  public func scenarios() throws -> [ScenarioName: ScenarioState] {
    try Self.scenarios(in: object())
  }

  /// Changes what is remembered, as the only one at that moment.
  ///
  /// A damaged file is kept beside, as `state.json.damaged`, and begun anew.
  ///
  /// - Parameter body: gets what is remembered; the file is written where it changes that.
  /// - Throws: ``Platform/SystemError``, and what `body` throws.
  public func change<Value>(
    _ body: (inout [ScenarioName: ScenarioState]) throws -> Value
  ) throws -> Value {
    try Directory.make(home.controlPath)
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

  private func object() throws -> [String: Any] {
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
