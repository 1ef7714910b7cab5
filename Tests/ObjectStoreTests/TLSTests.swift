import Foundation
import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// Real handshakes with lighttpd, with new certificates.
@Suite(.tags(.large)) struct TLSTests {
  private static let authority = Result { try Authority() }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var certificate = "good"
    var wantsClient = false
    var newest = "TLSv1.3"
    /// The user's settings, given the authority.
    var settings: @Sendable (inout StoreSettings, Authority) -> Void = {
      $0.caFile = $1.path("ca.pem")
    }
    /// A word of the advice; nil if the connection must work.
    var advice: String?
  }

  static let cases = [
    Case(testDescription: "private authority"),
    Case(testDescription: "unknown authority", settings: { _, _ in }, advice: "ca-file"),
    Case(testDescription: "expired", certificate: "expired", advice: "clock"),
    Case(testDescription: "another host", certificate: "other", advice: "host name"),
    Case(testDescription: "client certificate missing", wantsClient: true, advice: "client-cert"),
    Case(
      testDescription: "client certificate missing, TLS 1.2", wantsClient: true, newest: "TLSv1.2",
      advice: "client-cert"),
    Case(
      testDescription: "client certificate", wantsClient: true,
      settings: {
        $0.caFile = $1.path("ca.pem")
        $0.clientCertificateFile = $1.path("client.pem")
        $0.clientKeyFile = $1.path("client.key")
      }),
    Case(
      testDescription: "another key than the certificate's", wantsClient: true,
      settings: {
        $0.caFile = $1.path("ca.pem")
        $0.clientCertificateFile = $1.path("client.pem")
        $0.clientKeyFile = $1.path("other.key")
      }, advice: "belong together"),
    Case(
      testDescription: "pinned",
      settings: {
        $0.caFile = $1.path("ca.pem")
        $0.pinnedKey = $1.pin
      }),
    Case(
      testDescription: "pinned otherwise",
      settings: {
        $0.caFile = $1.path("ca.pem")
        $0.pinnedKey = "sha256//" + Data(repeating: 7, count: 32).base64EncodedString()
      }, advice: "pinned-key"),
    Case(
      testDescription: "only TLS 1.3 accepted",
      settings: {
        $0.caFile = $1.path("ca.pem")
        $0.minimumTLS = .v13
      }),
    Case(
      testDescription: "only TLS 1.3 accepted, 1.2 offered", newest: "TLSv1.2",
      settings: {
        $0.caFile = $1.path("ca.pem")
        $0.minimumTLS = .v13
      }, advice: "minimum-tls"),
  ]

  @Test(arguments: cases)
  func `a TLS handshake succeeds or fails with the right advice`(_ test: Case) async throws {
    let authority = try Self.authority.get()
    let server = try SpecialLighttpdServer(
      .tls(certificate: test.certificate, wantsClient: test.wantsClient, newest: test.newest),
      authority: authority)
    var settings = StoreSettings(machine: .current)
    test.settings(&settings, authority)
    let store = try openStore(StoreURL(server.url), settings: settings, environment: [:])
    guard let advice = test.advice else {
      _ = try await store.put("a", [1, 2])
      #expect(try await store.get("a") == [1, 2])
      return
    }
    let error = await #expect(throws: StoreError.self) { try await store.put("a", [1]) }
    #expect(error?.code == .configuration, "\(String(describing: error))")
    #expect(error?.advice.contains(advice) == true, "\(String(describing: error))")
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.files).isEmpty)
  }

  @Test(arguments: [
    ("client-locked.key", "client.pem", "password"), ("client.pem", "client.pem", "client-key"),
    ("client.key", "client.key", "client-certificate"), ("gone", "client.pem", "client-key"),
  ])
  func `unusable TLS key files are refused at once`(
    key: String, certificate: String, word: String
  ) throws {
    let authority = try Self.authority.get()
    var settings = StoreSettings(machine: .current)
    settings.clientKeyFile = authority.path(key)
    settings.clientCertificateFile = authority.path(certificate)
    let error = #expect(throws: StoreError.self) {
      try openStore(StoreURL("https://127.0.0.1/x"), settings: settings, environment: [:])
    }
    #expect(error?.code == .configuration)
    #expect(error?.description.contains(word) == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    ("sha256//f+6vKWriRoncxKle77v62aNAbS1AtTc++SfEClijK1w=", true),
    (
      "sha256//f+6vKWriRoncxKle77v62aNAbS1AtTc++SfEClijK1w=;"
        + "sha256//AAAvKWriRoncxKle77v62aNAbS1AtTc++SfEClijK1w=", true
    ),
    ("", false), ("sha256//", false), ("sha1//f+6vKWriRoncxKle77v62aNAbS1=", false),
    ("/etc/key.pem", false), ("sha256//f+6vKWriRoncxKle77v62aNAbS1AtTc++SfEClijK1w", false),
    ("sha256//f+6vKWriRoncxKle77v62aNAbS1AtTc++SfEClijK1w=;", false),
  ])
  func `a pinned key is recognized by its form`(_ text: String, isOne: Bool) {
    #expect(TLS.isPinnedKey(text) == isOne)
  }
}
