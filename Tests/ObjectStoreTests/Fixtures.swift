import Foundation

/// The answers of real servers, and the known signatures, beside these tests.
enum Fixtures {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  /// The names, without extension, of all JSON files in a folder that satisfy a condition.
  static func names(_ place: String) -> [String] {
    let all = try? FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent(place).path)
    return (all ?? []).filter { $0.hasSuffix(".json") && !$0.hasPrefix("BEHAVIOUR") }
      .map { String($0.dropLast(5)) }.sorted()
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent(path)))
  }

  static func json<Value: Decodable>(_ path: String, as type: Value.Type) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(bytes(path)))
  }
}
