import Foundation
import Platform

/// Where the keys of a home's devices are.
extension Home {
  /// The key of this home's device, or of the machine's that was new to the home last.
  package var keyPath: String { keyFolder + "/key.json" }

  /// The key of another device of this home; nil for an id that no device has.
  package func keyPath(ofOther device: String) -> String? {
    Device.isID(device) ? "\(keyFolder)/\(Self.otherPrefix)\(device)\(Self.suffix)" : nil
  }

  private var keyFolder: String {
    // In machine-wide mode it is in root's own home, where only root can have created it.
    (owner == nil ? path : MachineWide.home(of: Account(id: 0)).path) + "/control"
  }

  /// The ids of devices that have a key here, that of ``keyPath`` last; for a home that lost its
  /// device record.
  ///
  /// - Throws: ``Platform/SystemError``; not if the keys are another user's, or there are none.
  func devicesWithKeys() throws -> [String] {
    let names: [String]
    do {
      names = try Directory.names(in: keyFolder)
    } catch {
      guard error.isNotFound || error.isDenied else { throw error }
      return []
    }
    let others = names.sorted().compactMap(Self.otherDevice)
    let newest = (try? AtomicFile.read(keyPath)).flatMap {
      try? JSONDecoder().decode(Key.self, from: Data($0))
    }
    return (others + [newest?.deviceId].compactMap(\.self)).filter(Device.isID)
  }

  private struct Key: Decodable { let deviceId: String }

  /// The device whose key a file is that is not ``keyPath``; nil for other files.
  private static func otherDevice(_ name: String) -> String? {
    guard name.hasPrefix(otherPrefix), name.hasSuffix(suffix) else { return nil }
    return String(name.dropFirst(otherPrefix.count).dropLast(suffix.count))
  }

  private static let otherPrefix = "key-"
  private static let suffix = ".json"
}
