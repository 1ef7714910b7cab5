/// Locates the other end of a connection by the connection's two addresses.
enum PeerAddress {
  /// Whether the other end is on this machine: the loopback, or the address that this end has, too.
  ///
  /// - Parameters:
  ///   - peer: The other end's address, as text; empty if there is none.
  ///   - own: This end's.
  static func isOnThisMachine(_ peer: String, from own: String) -> Bool {
    !peer.isEmpty && (peer == own || peer.hasPrefix("127.") || peer == "::1")
  }
}
