import Redaction
import TestSupport

/// Text that is difficult for a redactor, without real secrets.
enum RedactionSamples {
  /// Lower-case words with a secret in angle brackets, and its kind.
  static let found: [(text: String, kind: String)] = [
    ("id <AKIAIOSFODNN7EXAMPLE>", "aws-key"),
    (#"{"client_secret":"<Qx7\/9dKf8sT2\/pLmN4vR>"}"#, "secret"),
    (#"{"password":"<p4ss\u0026word>"}"#, "password"),
    (#"{"password":"<DOM\\user1>"}"#, "password"),
    (#"{"password":"<\u005abcdef>"}"#, "password"),
    (#"{"password":"<ab\"cdef>"}"#, "password"),
    (#"{"password":"<$2b$12$abcDEF1234567>"}"#, "password"),
    ("password=<$hunter2Kt9x>", "password"),
    ("DB_PASS=<x7bare9>", "password"),
    ("SMTP_PASS='<x7 quoted>'", "password"),
    (#""pass":"<x7quoted>""#, "password"),
    (#"{"name":"DB_PASSWORD","value":"<hunter2>"}"#, "password"),
    ("['mysql', '--password', '<hunter2>']", "password"),
    (#"["--token","<x9y8z7>"]"#, "password"),
    ("private_key=<Zx9Yw8Vu7Ts6Rq5P>", "secret"),
    (#"{"password":["<hunter2>"]}"#, "password"),
    ("password          = <hunter2>", "password"),
    ("aws_secret_access_key = <wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>", "aws-secret"),
    (#""SecretAccessKey": "<wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>","#, "aws-secret"),
    ("AWS_SESSION_TOKEN=<IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCXVz> done", "aws-token"),
    (
      "?X-Amz-Signature=<3a1f0b9c3a1f0b9c3a1f0b9c3a1f0b9c3a1f0b9c3a1f0b9c3a1f0b9c3a1f0b9c>&x=1",
      "aws-signature"
    ),
    ("key=<AIzaSyA-0123456789abcdefghijklmnopqrstu>", "gcp-key"),
    ("<GOCSPX-0123456789abcdefghijklmnopqr>", "gcp-secret"),
    ("<ya29.a0AfB_byC0123456789-abcdefg> end", "gcp-token"),
    ("token <ghp_0123456789abcdefghijABCDEFGHIJ012345>", "github"),
    ("<github_pat_11ABCDEFG0123456789abc_0123456789abcdefghij> x", "github"),
    ("https://<ghs_0123456789abcdefghijABCDEFGHIJ012345>@github.com", "github"),
    ("slack <xoxb-123456789012-abcdefGHIJKL>", "slack"),
    (
      "https://hooks.slack.com/services/<T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX>",
      "slack-webhook"
    ),
    (
      "jwt <eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P>",
      "jwt"
    ),
    ("Authorization: Bearer <mF_9.B5f-4.1JqM>", "bearer"),
    (#"{"authorization":"bearer <0123456789abcdef0123>"}"#, "bearer"),
    ("using bearer <0123456789abcdef0123> now", "bearer"),
    ("Authorization: Token <9944b09199c62bcf9418ad846dd0e4bb>", "bearer"),
    ("using Bearer 12|<0123456789abcdefABCD> now", "bearer"),
    (#"-H Authorization:\ Bearer\ <mF_9.B5f-4.1JqM>"#, "bearer"),
    ("encryptionKey=<q8Zr3Tn5Wv7Yx9Ab2Cd4Ef>", "secret"),
    ("proxy-authorization: Basic <QWxhZGRpbjpvcGVuIHNlc2FtZQ==>", "basic"),
    ("fs.s3a.secret.key=<wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>", "secret"),
    ("aws.secret.access.key = <wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>", "aws-secret"),
    (
      "fs.azure.account.key.acct.blob.core.windows.net=<bXlrZXlteWtleW15a2V5bXlrZXlteWtleW15a2V5bQ==>",
      "secret"
    ),
    ("openai.api.key: <aB3dE5gH7jK9mN1p>", "secret"),
    (#"{"smtpPass":"<x7bare9>"}"#, "password"),
    ("keytool -storepass <x7bare9> -list", "password"),
    ("app --github-token <aB3dE5gH7jK9> x", "password"),
    ("app --signing-key <aB3dE5gH7jK9>", "password"),
    ("authorization: basic <dTpw>", "basic"),
    ("postgres://app:<s3cr3t@with:at>@db.example/app", "url-password"),
    ("redis://:<hunter2hunter2>@cache:6379", "url-password"),
    (#"{"SecretAccessKey":"<wJalrXUtnFEMI\/K7MDENG\/bPxRfiCYEXAMPLEKEY>"}"#, "aws-secret"),
    ("secret_access_key=<wJalrXUtnFEMI%2FK7MDENG%2FbPxRfiCYEXAMPLEKEY>&x=1", "aws-secret"),
    (#""AWS_SECRET_ACCESS_KEY","value":"<wJalrXUtnFEMI/K7MDENG/bPxRfiCY>""#, "aws-secret"),
    ("|  SecretAccessKey  |  <wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>  |", "aws-secret"),
    (
      #"https:\/\/hooks.slack.com\/services\/<T00000000\/B00000000\/XXXXXXXXXXXX>"#, "slack-webhook"
    ),
    ("map[Authorization:[Basic <QWxhZGRpbjpvcGVuIHNlc2FtZQ==>]]", "basic"),
    ("('Authorization', 'Basic <QWxhZGRpbjpvcGVuIHNlc2FtZQ==>')", "basic"),
    (#"{"name":"Authorization","value":"Bearer <mF_9.B5f-4.1JqM>"}"#, "bearer"),
    ("mysql://app@server:<s3cr3ts3cr3ts3cr3t>@db/app", "url-password"),
    (#"postgres:\/\/app:<s3cr3ts3cr3ts3cr3t>@db\/app"#, "url-password"),
    (
      #"{"private_key": "-----BEGIN PRIVATE KEY-----<\nMIIEvQIBADANBgkq\n>-----END PRIVATE KEY-----"}"#,
      "private-key"
    ),
  ]

  /// Text without secrets.
  static let innocent = [
    "basic authentication is on", "the bearer of bad news", "authorization: denied",
    "https://example.org:8080/path?mail=a", "AKIA is a prefix", "eyJust a word. Two. Three.",
    "-----BEGIN CERTIFICATE-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7",
    "ghp_short", "xoxb-1", "mail root@example.org", "card 4111 1111 1111 1111",
    "secret_access_key is not set", "see s3://bucket/key and http://[::1]:80/",
  ]

  /// The rules of the tests: all built-in ones, and custom ones.
  static func rules() throws -> RedactionRules {
    RedactionRules(
      groups: Set(BuiltInRules.all.map(\.group)),
      own: [
        try RedactionRule(kind: "customer", near: "customer=", pattern: #"customer=(\w+)"#),
        try RedactionRule(kind: "tail", near: "!key", pattern: #"\S+ !key"#),
        try RedactionRule(kind: "red", near: "EDA", pattern: "[A-Z]{4,9}"),
      ])
  }

  /// A stream of everything that rules match, of parts of it, and of typical text around it.
  static func hostile(_ limit: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var out: [UInt8] = []
    let hasLines = UInt8.random(in: 0..<4, using: &random) > 0
    while out.count < limit {
      out += piece(&random, hasLines)
    }
    return Array(out.prefix(limit))
  }

  private static let anchors = BuiltInRules.all.flatMap(\.rules).flatMap(\.anchors)
  private static let pieces = [
    "AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijABCDEFGHIJ012345", " customer=abc*", " !key",
    "[REDACTED:aws-key***]", "[REDACTED:", "]", "*", "[REDACTED:x]", "://user:pass@host", "@", ":",
    "\u{1b}[31m", "\u{1b}[0m",
    "\u{1b}[", "\u{1b}", "\u{1b}[K", "\u{1b}(B", "\u{1b}]8;;", "\u{1b}\\", "\u{7}", "38;5;1m",
    "-----BEGIN RSA \u{1b}[0mPRIVATE KEY-----", "-----END\u{1b}[m RSA PRIVATE KEY-----",
    "password=", "token: ", "DB_PASSWORD=\"", "sk-proj-",
    "4111 1111 1111 1111", "5500000000000004", "a.b@example.org", " ", "\t", "\"", "/", ".", "=",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.dozjgNryP4J3", "Authorization: Basic dTpw", "\r", "\0",
    "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "é", "REDACTED",
    "://u:Authorization: basic a/b=@", "Proc-Type: 4,ENCRYPTED",
  ]

  private static func piece(_ random: inout SeededGenerator, _ hasLines: Bool) -> [UInt8] {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return Array((anchors.randomElement(using: &random) ?? "").utf8)
    case 1:
      let anchor = Array((anchors.randomElement(using: &random) ?? "").utf8)
      return Array(anchor.prefix(Int.random(in: 0...anchor.count, using: &random)))
    case 2:
      let set = Array("abcXYZ0129+/=_-.".utf8)
      let count = [3, 20, 70, 300, 6000].randomElement(using: &random) ?? 0
      return (0..<Int.random(in: 0...count, using: &random)).map { _ in
        set.randomElement(using: &random) ?? 0
      }
    case 3: return hasLines ? [0x0a] : [0x20]
    case 4:
      return hasLines ? Array("\n2026-01-22T14:30:05.123Z [INFO] [stdout] ".utf8) : []
    case 5:
      let line = Array("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".utf8)
      return hasLines ? Array("\n2026-01-22T14:30:05.123Z [INFO] [stdout] ".utf8) + line : line
    case 6: return EditScript.random(Int.random(in: 0...20, using: &random), &random)
    default: return Array((pieces.randomElement(using: &random) ?? "").utf8)
    }
  }
}
