import Platform
import Replica
import SessionLog
import Yams

/// Reads `trust:`, devices and their signing keys.
enum TrustSection {
  static func read(_ node: Node) throws -> [String: KnownKeys.Key] {
    if node.scalar?.string.isEmpty == true { return [:] }
    guard case .mapping(let mapping) = node else {
      throw ConfigurationError(node, "'trust' takes indented lines 'DEVICE: ed25519:KEY'")
    }
    var keys: [String: KnownKeys.Key] = [:]
    for (device, value) in mapping {
      guard let name = device.string, Device.isID(name) else {
        throw ConfigurationError(
          device, "'trust' takes ids of devices, as 'tidemark doctor' shows them there")
      }
      let words = value.scalar?.string.split(separator: " ") ?? []
      let since = words.dropFirst().first.map { Timestamp(iso: String($0)) }
      guard let key = words.first.flatMap({ PublicKey(String($0)) }), words.count <= 2,
        since != .some(nil)
      else {
        throw ConfigurationError(
          value, "'trust.\(name)' takes a key as 'tidemark doctor' shows it there: ed25519:KEY")
      }
      keys[name] = KnownKeys.Key(key, since: since ?? nil)
    }
    return keys
  }
}
