import TestSupport
import Testing

@testable import HTTPTransport

/// What is sent without encryption, and past a proxy.
@Suite(.tags(.small)) struct LoopbackTests {
  @Test(arguments: [
    ("http://localhost/x", true), ("http://LOCALHOST:80", true), ("http://127.0.0.1", true),
    ("https://127.8.9.1:1/a@b", true), ("http://[::1]:8/x", true), ("http://[::1]", true),
    ("http://127.evil.example/", false), ("http://127.0.0.1.evil.example/", false),
    ("http://127.0.0.1:x@192.0.2.2:18595/a", false), ("http://localhost@h/", false),
    ("http://localhost:80@h/", false), ("http://localhost.evil/", false),
    ("http://[::1].evil/", false), ("http://[::2]/", false), ("http://127.0.0/", false),
    ("http://h#localhost", false), ("http://h?://localhost", false), ("localhost", false),
    ("", false), ("http://", false), ("http://[", false),
  ]) func `a URL is local only by its host`(url: String, isLocal: Bool) {
    #expect(Loopback.isHost(of: url) == isLocal)
  }
}
