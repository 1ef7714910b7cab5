import Foundation
import Platform

/// Where the keys of a home's devices are.
extension Home {
  /// The key of this home's device, or of the machine's that was new to the home last.
  package var keyPath: String { keyFolder + "/key.json" }

  /// The key of another device of this home; nil for an id that no device has.
  package func keyPath(ofOther device: String) -> String? {
    Device.isID(device) ? "\(keyFolder)/key-\(device).json" : nil
  }

  private var keyFolder: String {
    // In machine-wide mode it is in root's own home, where only root can have created it.
    (owner == nil ? path : MachineWide.home(of: Account(id: 0)).path) + "/control"
  }

  /// The ids of devices that have a key here, that of ``keyPath`` last; for a home that lost its
  /// device record.
  var devicesWithKeys: [String] {
    let names = (try? Directory.names(in: keyFolder)) ?? []
    let others = names.filter { $0.hasPrefix("key-") && $0.hasSuffix(".json") }.sorted()
      .map { String($0.dropFirst(4).dropLast(5)) }
    struct Key: Decodable { let deviceId: String }
    let newest = (try? AtomicFile.read(keyPath)).flatMap {
      try? JSONDecoder().decode(Key.self, from: Data($0))
    }
    return (others + [newest?.deviceId].compactMap(\.self)).filter(Device.isID)
  }
}
