import HTTPTransport
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.small)) struct DigestLoginTests {
  private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
  private static let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

  private func answer(_ extra: String, count: Int = 1) throws -> [String: String] {
    let header = "Digest realm=\"http-auth@example.org\", nonce=\"\(Self.nonce)\", \(extra)"
    let challenge = try #require(AuthChallenge.parse(header).first)
    var login = try #require(DigestLogin(challenge, cnonce: Self.cnonce))
    var value = ""
    for _ in 0..<count {
      value = login.authorization(
        user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html")
    }
    #expect(value.hasPrefix("Digest "))
    return AuthChallenge.parameters(String(value.dropFirst(7)))
  }

  /// RFC 7616, section 3.9.1; the session variants and those without qop by its formulas.
  @Test(arguments: [
    ("qop=\"auth, auth-int\", algorithm=MD5", "8ca523f5e9506fed4657c9700eebdbec"),
    ("qop=auth", "8ca523f5e9506fed4657c9700eebdbec"),
    (
      "qop=\"auth\", algorithm=SHA-256",
      "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
    ),
    (
      "qop=auth, algorithm=MD5-sess",
      "e783283f46242139c486a698fec7211d"
    ),
    (
      "algorithm=MD5",
      "7b2cc3b30e75b4777ea31027084363fd"
    ),
    (
      "qop=auth, algorithm=SHA-256-sess",
      "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"
    ),
    (
      "algorithm=SHA-256",
      "a1306b0595a6c7fe96c448631fb5cfbd5107bd1fe1da729d978dd7446b812363"
    ),
  ])
  func `digest responses match RFC 7616`(_ extra: String, response: String) throws {
    let fields = try answer(extra)
    #expect(fields["response"] == response)
    #expect(fields["username"] == "Mufasa")
    #expect(fields["nc"] == (extra.contains("qop") ? "00000001" : nil))
  }

  /// RFC 2617, section 3.5.
  @Test func `digest responses match RFC 2617`() throws {
    let challenge = AuthChallenge.parse(
      """
      Digest realm="testrealm@host.com", qop="auth,auth-int", \
      nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"
      """)
    var login = try #require(DigestLogin.best(of: challenge, cnonce: "0a4f113b"))
    let value = login.authorization(
      user: "Mufasa", password: "Circle Of Life", method: "GET", target: "/dir/index.html")
    let fields = AuthChallenge.parameters(String(value.dropFirst(7)))
    #expect(fields["response"] == "6629fae49393a05397450978507c4ef1")
    #expect(fields["opaque"] == "5ccc069c403ebaf9f0171e9517f40e41")
  }

  @Test func `the nonce count counts requests`() throws {
    #expect(try answer("qop=auth", count: 17)["nc"] == "00000011")
  }

  @Test func `the user name is hashed if the server asks for it`() throws {
    let fields = try answer("qop=auth, userhash=true, algorithm=MD5")
    #expect(fields["username"] == "4238f3a16167373febb9bc4d43db9cc4")
    #expect(fields["userhash"] == "true")
    #expect(fields["response"] == "8ca523f5e9506fed4657c9700eebdbec")
  }

  @Test func `a non-ASCII user name is percent-encoded`() throws {
    let challenge = AuthChallenge(
      scheme: "digest", parameters: ["realm": "a\"b\\c", "nonce": "n", "charset": "UTF-8"])
    var login = try #require(DigestLogin(challenge, cnonce: Self.cnonce))
    let value = login.authorization(user: "Jäsøn", password: "x", method: "GET", target: "/")
    #expect(value.contains("username*=UTF-8''J%C3%A4s%C3%B8n"))
    #expect(value.contains("realm=\"a\\\"b\\\\c\""))
  }

  @Test func `several challenges are parsed, and the strongest is chosen`() {
    let response = HTTPResponse(
      status: 401,
      headers: [
        ("WWW-Authenticate", "Negotiate, Basic realm=\"a, b\", NTLM TlRMTVNTUA=="),
        (
          "www-authenticate",
          "Digest realm=\"x \\\"y\\\"\",nonce = \"1\" , qop=\"auth\",stale=TRUE,nonce=2,, ="
        ),
        ("WWW-Authenticate", "Digest realm=\"z\", nonce=\"3\", algorithm=SHA-256"),
        ("WWW-Authenticate", "\""),
      ])
    let found = AuthChallenge.all(in: response)
    #expect(found.map(\.scheme) == ["negotiate", "basic", "ntlm", "digest", "digest"])
    #expect(found[1].parameters == ["realm": "a, b"])
    #expect(found[3].parameters["realm"] == "x \"y\"")
    #expect(found[3].parameters["nonce"] == "1")
    #expect(found[3].parameters["stale"] == "TRUE")
    #expect(DigestLogin.best(of: found, cnonce: Self.cnonce)?.nonce == "3")
  }

  /// The login would repeat it, and could not be sent.
  @Test(arguments: ["\u{1}", "\u{7f}", "\t", "\u{1b}[31m", "\r", "\u{0}"])
  func `a parameter with a control character is skipped`(_ character: String) {
    for name in ["realm", "nonce", "opaque", "algorithm", "nextnonce"] {
      let value = "a\(character)b"
      #expect(AuthChallenge.parameters("\(name)=\"\(value)\", x=1") == ["x": "1"])
    }
    let bad = "Digest realm=\"a\(character)b\", nonce=\"1\""
    #expect(DigestLogin.best(of: AuthChallenge.parse(bad), cnonce: Self.cnonce) == nil)
    let good = "\(bad), realm=\"r\", opaque=\"\(character)\""
    var login = DigestLogin.best(of: AuthChallenge.parse(good), cnonce: Self.cnonce)
    let value = login?.authorization(user: "u", password: "p", method: "GET", target: "/")
    #expect(value?.contains("realm=\"r\"") == true)
    #expect(value?.utf8.contains { $0 < 0x20 || $0 == 0x7f } == false)
  }

  @Test(arguments: [
    "Digest nonce=\"1\"", "Digest realm=\"x\"", "Digest realm=a, nonce=b, qop=auth-int",
    "Digest realm=a, nonce=b, algorithm=SHA-512-256", "Basic realm=a, nonce=b",
  ])
  func `challenges that are unsupported or incomplete are ignored`(_ header: String) {
    let challenges = AuthChallenge.parse(header)
    #expect(DigestLogin.best(of: challenges, cnonce: Self.cnonce) == nil)
  }

  /// Each quote was a call within the one before.
  @Test(arguments: [(1000, true), (1_000_000, false)])
  func `stray quotes are skipped, and what follows too many is ignored`(
    _ count: Int, _ isRead: Bool
  ) {
    let header = String(repeating: "\"", count: count) + " Basic realm=\"a\""
    #expect(AuthChallenge.parse(header).map(\.scheme) == (isRead ? ["basic"] : []))
    #expect(AuthChallenge.parameters(header) == (isRead ? ["realm": "a"] : [:]))
  }
}
