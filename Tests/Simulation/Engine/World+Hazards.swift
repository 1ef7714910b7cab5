import Delta
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport

/// Accidents of homes and the store.
extension World {
  func clone(_ home: SimulatedHome, _ keepsMachineId: Bool) throws {
    guard homes.count < 4, File.exists(home.home.path), !home.isObstructed else { return }
    let number = homes.count
    try addHome(number)
    homes[number].configure(like: home)
    oracle.recordCopies(of: try home.home.sessions())
    if keepsMachineId { homes[number].machine.identify(as: "machine-m\(home.number)") }
    try SimulatedHome.copy(home.home.path, to: homes[number].home.path)
    oracle.recordTrash(of: home.home, copiedTo: homes[number].home)
  }

  static func rules(_ number: Int) -> RedactionRules {
    let letters = try? RedactionRule(kind: "letters", near: "xyz", pattern: "xyz")
    return switch number % 3 {
    case 0: RedactionRules()
    case 1: RedactionRules(groups: [])
    default: RedactionRules(own: [letters].compactMap(\.self))
    }
  }

  /// Whether a numbered rule set masks the secrets that programs print.
  static func masksSecrets(_ number: Int) -> Bool { number % 3 != 1 }

  /// Length that no log exceeds by more than a line, in bytes.
  static let longestLog = 64 << 10

  /// Writes an object like another vendor's client, or damages one.
  func forge(_ object: Int, _ forgery: Action.Forgery, _ random: inout SeededGenerator) {
    if forgery == .revision || forgery == .replay {
      return forgeRevision(object, isReplay: forgery == .replay)
    }
    let stored = store.stored.filter { $0.key.hasSuffix(".zst") }.sorted { $0.key < $1.key }
    guard !stored.isEmpty else { return }
    let (key, content) = stored[object % stored.count]
    switch forgery {
    case .foreign:
      let length = Int.random(in: 0...content.bytes.count, using: &random)
      store.write(key + ".tmp", Array(content.bytes.prefix(length)))
    case .otherSize:
      let size = content.bytes.count
      store.write(
        key.replacing(".\(size).", with: ".\(size + 1)."), content.bytes + [0])
    case .otherText:
      guard let name = SegmentName(key.lastPart), let body = try? Self.segment(name.length) else {
        return
      }
      store.write(key.replacing(".\(name.stored).", with: ".\(body.count)."), body)
    case .cut:
      store.write(key, Array(content.bytes.prefix(content.bytes.count / 2)))
    case .revision, .replay: break
    }
  }

  /// A complete segment of a given length that no program wrote.
  private static func segment(_ length: ByteCount) throws -> [UInt8] {
    let encoder = try SegmentEncoder()
    let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: Int(length))
    try bytes.withUnsafeBytes { try encoder.append($0, lines: 1, times: nil, levels: []) }
    return encoder.finish(link: Link(before: []))
  }
}
