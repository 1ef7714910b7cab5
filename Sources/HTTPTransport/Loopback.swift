import Foundation

/// This machine, as the host of a URL.
package enum Loopback {
  /// Whether a host is this machine: `localhost`, `[::1]` or an address that begins with `127`.
  package static func isHost(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Whether a URL's host is this machine; false for a URL with a login, which may look like a host.
  package static func isHost(of url: String) -> Bool {
    guard let scheme = url.range(of: "://") else { return false }
    let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
    let host =
      authority.hasPrefix("[")
      ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    let port = authority.dropFirst(host.count)
    guard port.isEmpty || (port.first == ":" && port.utf8.dropFirst().allSatisfy(isDigit)) else {
      return false
    }
    return isHost(host.lowercased())
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
