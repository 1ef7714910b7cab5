@testable import HTTPTransport
import TestServers
import TestSupport
import Testing

/// Where the other end of a connection is.
@Suite(.tags(.small)) struct PeerAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1", true), ("127.0.1.1", "127.0.0.1", true), ("::1", "::1", true),
    ("192.0.2.7", "192.0.2.7", true), ("2001:db8::7", "2001:db8::7", true),
    ("192.0.2.7", "192.0.2.8", false), ("2001:db8::7", "2001:db8::8", false), ("", "", false),
  ])
  func `an end that has this end's address, or the loopback's, is on this machine`(
    peer: String, own: String, isHere: Bool
  ) {
    #expect(PeerAddress.isOnThisMachine(peer, from: own) == isHere)
  }
}
