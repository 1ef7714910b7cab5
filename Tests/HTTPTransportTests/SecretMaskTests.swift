import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite(.tags(.small)) struct SecretMaskTests {
  @Test(arguments: [
    ("Authorization: Basic dGlkZTptYXJr", "Authorization: Basic ***"),
    ("authorization:Bearer abcdef", "authorization: Bearer ***"),
    ("AUTHORIZATION: opaque", "AUTHORIZATION: ***"),
    (
      "Authorization: AWS4-HMAC-SHA256 Credential=AK/20260122/x, SignedHeaders=host, Signature=00ff",
      "Authorization: AWS4-HMAC-SHA256 ***"
    ),
    (
      "Authorization: Digest username=\"tide\", response=\"00ff\", qop=auth",
      "Authorization: Digest ***"
    ),
    ("Proxy-Authorization: Basic dXNlcjpwYUBzcw==", "Proxy-Authorization: Basic ***"),
    ("Cookie: session=1; other=2", "Cookie: ***"),
    ("Set-Cookie: session=1; Path=/", "Set-Cookie: ***"),
    ("x-amz-security-token: FwoG", "x-amz-security-token: ***"),
    ("X-aws-ec2-metadata-token: AQA", "X-aws-ec2-metadata-token: ***"),
    ("X-Api-Key: k", "X-Api-Key: ***"),
    (
      "x-amz-server-side-encryption-customer-key: k",
      "x-amz-server-side-encryption-customer-key: ***"
    ),
    ("Authentication-Info: rspauth=\"1\"", "Authentication-Info: ***"),
    // Challenges, and headers without a secret, stay as they are.
    (
      "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"",
      "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\""
    ),
    ("x-amz-content-sha256: e3b0", "x-amz-content-sha256: e3b0"),
    ("ETag: \"5d41\"", "ETag: \"5d41\""),
    ("HTTP/1.1 401 Unauthorized", "HTTP/1.1 401 Unauthorized"),
    // In the request line and in redirects.
    (
      "GET /b/k?X-Amz-Credential=AK%2Fx&X-Amz-Signature=00ff&partNumber=1 HTTP/1.1",
      "GET /b/k?X-Amz-Credential=***&X-Amz-Signature=***&partNumber=1 HTTP/1.1"
    ),
    (
      "Location: https://h/k?AWSAccessKeyId=AK&Signature=s&Expires=1",
      "Location: https://h/k?AWSAccessKeyId=***&Signature=***&Expires=1"
    ),
    ("Location: https://user:pa@ss@host/p", "Location: https://***@host/p"),
    ("GET http://user:pass@host/p HTTP/1.1", "GET http://***@host/p HTTP/1.1"),
    ("X: a; response=\"it is\", b", "X: a; response=***, b"),
    ("X: sig=\"open", "X: sig=***"),
    ("X: known hunter22 here", "X: known *** here"),
    ("", ""), (":", ":"), ("=", "="), ("token=", "token=***"),
  ])
  func `secrets in headers are masked`(_ line: String, _ expected: String) {
    #expect(SecretMask(known: ["hunter22"]).maskHeader(line).text == expected)
  }

  @Test(arguments: [
    (
      "Uses proxy env variable http_proxy == 'http://user:sec ret@host:3128'",
      "Uses proxy env variable http_proxy == '***@host:3128'"
    ),
    (
      "Uses proxy env variable http_proxy == 'user:pass@host:3128'",
      "Uses proxy env variable http_proxy == '***@host:3128'"
    ),
    ("user:pass@host is odd", "***@host is odd"),
    ("Connected to 127.0.0.1 (127.0.0.1) port 80", "Connected to 127.0.0.1 (127.0.0.1) port 80"),
  ])
  func `logins in libcurl's notes are masked`(_ line: String, _ expected: String) {
    #expect(SecretMask().maskNote(line) == expected)
  }

  @Test func `secrets are collected from request headers and proxy URLs`() {
    let basic = Data("tide:correct horse".utf8).base64EncodedString()
    let found = SecretMask.secrets(in: [
      (name: "Authorization", value: "Basic \(basic)"), (name: "Depth", value: "infinity"),
    ])
    #expect(found.contains(basic) && found.contains("correct horse"))
    #expect(!found.contains("infinity"))
    let signed = SecretMask.secrets(in: [
      (
        name: "Authorization",
        value: "AWS4-HMAC-SHA256 Credential=AK/20260122/x, SignedHeaders=host, Signature=00ff00ff"
      ),
      (name: "Authorization", value: #"Digest username="tide", uri="/dav", response="11ee11ee""#),
    ])
    #expect(Set(["AK/20260122/x", "00ff00ff", "11ee11ee"]).isSubset(of: signed))
    #expect(!signed.contains("host") && !signed.contains("tide") && !signed.contains("/dav"))
    #expect(SecretMask.secrets(inURL: "http://u:pa%40ss@proxy:1").contains("pa@ss"))
    #expect(SecretMask.secrets(inURL: "http://proxy:1").isEmpty)
  }

  @Test func `short secrets are not masked inside other words`() {
    #expect(SecretMask(known: ["mark"]).mask("tidemark") == "tidemark")
  }

  /// As servers and their proxies echo them.
  @Test(arguments: [
    "pä/ss\"w0rd+", "cMOkL3NzIncwcmQr", "cMOkL3NzIncwcmQr==", #"pä\/ss\"w0rd+"#,
    "p%C3%A4%2Fss%22w0rd%2B", "p%25C3%25A4%252Fss%2522w0rd%252B",
    "p%25c3%25a4%252fss%2522w0rd%252b",
    "p%E4%2Fss%22w0rd%2B", "p%25e4%252fss%2522w0rd%252b", "p\u{fffd}/ss\"w0rd+",
    #"p\xe4/ss\x22w0rd+"#,
    "pÃ¤/ss\"w0rd+", "p%C3%83%C2%A4%2Fss%22w0rd%2B", #"p\u00c3\u00a4\/ss\"w0rd+"#,
    "p&Atilde;&curren;/ss&quot;w0rd+", "p\u{fffd}\u{fffd}/ss\"w0rd+",
    "p&auml;/ss&quot;w0rd+", "p&auml;&sol;ss&QUOT;w0rd&plus;", "p&amp;auml;/ss&amp;quot;w0rd+",
    "p%26auml%3B%2Fss%26quot%3Bw0rd%2B",
    "pa\u{308}/ss\"w0rd+", "pä/ss\"w0rd+\u{301}", "cMOkL3NzIncwcmQr\u{20e3}",
  ])
  func `a known secret is masked in every encoding`(_ echo: String) {
    let mask = SecretMask(known: ["pä/ss\"w0rd+"])
    let text = mask.mask("got \(echo) from you")
    #expect(text.utf8.starts(with: "got ***".utf8) && text.hasSuffix(" from you"), "\(text)")
    #expect(!text.contains("w0rd") && !text.contains("L3Nz"), "\(text)")
  }

  @Test(arguments: ["%E9t\u{fffd}123", "\u{fffd}t%e9123", "=E9t=E9123"])
  func `a known secret that begins with a letter of Latin-1 is masked`(_ echo: String) {
    #expect(SecretMask(known: ["été123"]).maskKnown("got \(echo)!") == "got ***!")
  }

  @Test(arguments: [
    ("€uro€99", "â\u{82}¬uroâ\u{82}¬99"), ("€uro€99", "â‚¬uroâ‚¬99"), ("straße99", "straÃŸe99"),
    ("ключ99", "ÐºÐ»ÑŽÑ‡99"), ("€uro€99", "&euro;uro&#8364;99"),
  ])
  func `a known secret is masked where its UTF-8 was read as another encoding`(
    _ secret: String, _ echo: String
  ) {
    #expect(SecretMask(known: [secret]).maskKnown("got \(echo)!") == "got ***!")
  }

  private static func spelled(_ secret: String, _ spell: (UInt8) -> String) -> String {
    secret.utf8.map(spell).joined()
  }

  /// Each character as a number of HTML with so many digits.
  private static func numbered(_ secret: String, _ digits: Int) -> String {
    secret.unicodeScalars.map { String(format: "&#%0\(digits)d;", $0.value) }.joined()
  }

  /// One secret with all that encodings change.
  @Test(arguments: [
    #"p&s s<w>0r'd\u00e9/x%="#, #"p\u0026s s\u003cw\u003e0r\u0027d\u00E9\/x%="#,
    "p&#38;s s&#60;w&#62;0r&#39;d&#233;/x%=", "p&#x26;s s&#x3C;w&#x3e;0r&#x27;d&#xE9;/x%=",
    "p&amp;s s&lt;w&gt;0r&apos;dé/x%=", "p%26s+s%3Cw%3E0r%27d%C3%A9%2Fx%25%3D",
    "p%2526s%2520s%253cw%253e0r%2527d%25c3%25a9%252fx%2525%253d",
    "p=26s s=3Cw=3E0r'd=C3=A9/x%=3D", "p&s s<w=\r\n>0r'dé/=\nx%=3D",
    "p&#0000038;s s&#0000060;w&#x000003e;0r&#X00027;d&#000233;/x%=",
    "p%26%230000038%3Bs s&amp;#0000060;w&#x26;#x03e;0r'd&%23%30%30233;/x%=",
    numbered("p&s s<w>0r'dé/x%=", 7), numbered("p&s s<w>0r'dé/x%=", 4),
    #"p\u{000026}s s\u{3c}w\u{0003E}0r'd\u{0000e9}/x%="#,
    "p%26amp%3Bs%20s%26lt%3Bw%26gt%3B0r%27d%C3%A9%2Fx%25%3D",
    #"p\\u0026s s\\u003cw\\u003e0r\\u0027d\\u00e9/x%="#,
    spelled("p&s s<w>0r'dé/x%=") { "%" + String($0, radix: 16) },
    spelled("p&s s<w>0r'dé/x%=") { "%" + String($0, radix: 16, uppercase: true) },
    spelled("p&s s<w>0r'dé/x%=") { String($0, radix: 16) },
    spelled("p&s s<w>0r'dé/x%=") { String($0, radix: 16, uppercase: true) },
    spelled("p&s s<w>0r'dé/x%=") { "=" + String($0, radix: 16, uppercase: true) },
    "p&s s<w>0r'dé/x%=",
  ])
  func `a known secret is masked in every spelling of its characters`(_ echo: String) {
    let mask = SecretMask(known: ["p&s s<w>0r'dé/x%="])
    #expect(mask.maskKnown("got '\(echo)' from you") == "got '***' from you")
  }

  @Test func `what only resembles a known secret stays`() {
    let mask = SecretMask(known: ["hunter22", "100%2541"])
    for text in [
      "hunter%2", "hunter%32", "&#104;unter", "&h;unter22", "hunter&two;2", "100&;2541", "100%41",
      "%25%25%25%25", "=\r\n=\n", "",
    ] {
      #expect(mask.maskKnown(text) == text)
    }
    #expect(mask.maskKnown("a 100%2541 b") == "a *** b")
  }

  @Test(arguments: ["", "t", "ti", "tide"])
  func `a known secret is masked in the base64 of a longer text`(_ user: String) {
    let login = Data("\(user):correct horse!".utf8).base64EncodedString()
    let text = SecretMask(known: ["correct horse"]).mask("got \(login)")
    #expect(text.contains("***") && text.utf8.count < 20, "\(text)")
  }

  @Test(arguments: [
    ("token=\u{301}abcdef x", "token=*** x"), ("https:/\u{301}", "https:/\u{301}"),
    ("https://\u{301}u:pw@h/p", "https://***@h/p"),
    ("sig=\"\u{301}00ff\" x", "sig=*** x"),
  ])
  func `combining characters hide no delimiter`(_ text: String, _ expected: String) {
    #expect(Array(SecretMask().mask(text).utf8) == Array(expected.utf8))
  }

  /// Where a secret begins at a distance before the end of what is looked at.
  @Test(
    arguments: [
      "p%C3%A4&#x73;&#x73;w0rd/with/many/letters", "pässw0rd/with/many/letters",
      "https://user:other/p@ss@host", "token=another", "sig=\"another one\"",
    ], [0, 1, 5, 12, 24, 40, 511, 512, 600, 767, 768, 769, 1000])
  func `no part of a secret at the cut of a long text is shown`(_ echo: String, _ distance: Int) {
    let mask = SecretMask(known: ["pässw0rd/with/many/letters"])
    let before = SecretMask.longestHead - distance
    let text =
      String(repeating: "x ", count: before / 2) + echo + String(repeating: "y", count: 5000)
    let shown = mask.maskHead(of: text)
    #expect(shown.hasPrefix("x x x "))
    for part in ["ss", "w0", "p%", "/w", "many", "user", "other", "anoth"] {
      #expect(!shown.contains(part), "\(part) in \(shown.suffix(80))")
    }
  }

  @Test func `a long secret before the cut leaves none of its spelled letters`() {
    let secret = String((0..<500).map { Character(Unicode.Scalar(UInt8(97 + $0 * $0 % 26))) })
    let echo = secret.utf8.map { "%" + String($0, radix: 16) }.joined()
    let text = "got " + String(repeating: "-", count: 3000) + echo
    let shown = SecretMask(known: [secret]).maskHead(of: text)
    #expect(shown == "got " + String(repeating: "-", count: 3000) + "***")
  }

  /// Each of these was looked at for each letter of each form of a secret.
  @Test(arguments: ["&", "%", "=", "&#", "\\", "%2", "&a;", "&#000000", "&%230"])
  func `a long text of what opens spellings is cut before it is searched`(_ piece: String) {
    let mask = SecretMask(known: ["hunter22&and/more"])
    let text = String(repeating: piece, count: 1_000_000)
    let shown = mask.maskHead(of: text)
    #expect(shown.hasSuffix("***") && shown.utf8.count < SecretMask.longestHead)
    #expect(text.hasPrefix(shown.dropLast(3)))
  }

  @Test(arguments: ["&&#104;unter22", "&%68unter22", "&&amp;#104;unter22", "%%36%38unter22"])
  func `what opens a spelling before another one hides no secret`(_ echo: String) {
    #expect(SecretMask(known: ["hunter22"]).maskKnown(echo).hasSuffix("***"))
  }
}
