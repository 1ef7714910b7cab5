import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Name, model and operating system of a machine.
package struct Host: Sendable {
  /// The host name.
  package let name: String
  /// Hardware model, if known.
  package let model: String?
  /// Name and version of the operating system.
  package let system: String

  /// Describes a machine.
  package init(name: String, model: String?, system: String) {
    (self.name, self.model, self.system) = (name, model, system)
  }

  /// This machine.
  package static var current: Host {
    Host(name: currentName, model: currentModel, system: currentSystem)
  }

  private static var currentName: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return withUnsafeBytes(of: &name.nodename) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private static var currentModel: String? {
    guard let bytes = try? AtomicFile.read("/sys/devices/virtual/dmi/id/product_name") else {
      return nil
    }
    let name = String(decoding: bytes, as: UTF8.self).trimmingCharacters(
      in: .whitespacesAndNewlines)
    return name.isEmpty ? nil : name
  }

  private static var currentSystem: String {
    let lines = (try? AtomicFile.read("/etc/os-release")) ?? []
    for line in lines.split(separator: 0x0a) {
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("PRETTY_NAME=") {
        return text.dropFirst(12).trimmingCharacters(in: ["\""])
      }
    }
    return ProcessInfo.processInfo.operatingSystemVersionString
  }
}
