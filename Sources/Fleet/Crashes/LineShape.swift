/// A line without the parts that differ between runs of a program.
///
/// | in a line | in its shape |
/// |---|---|
/// | `2026-01-22T14:30:05.123Z`, `2026-01-22`, `14:30:05` | `<time>` |
/// | `0x7ffd3a10` | `<addr>` |
/// | `123e4567-e89b-12d3-a456-426614174000` | `<id>` |
/// | `20260122t143005z-k3f9a7c2`, a session | `<id>` |
/// | a word of 8 or more hex digits, one of them 0 to 9 | `<id>` |
/// | a word of 16 or more letters and digits | `<id>` |
/// | `10.0.0.7:8080` | `<ip>` |
/// | `/tmp/a8s7d6/x.sock`, `/run/user/1000/bus` | `<tmp>` |
/// | `/home/anna/x`, `/Users/anna/x` | `/home/<user>/x` |
/// | `42`, `1,024.5`, and the digits of `worker12` | `<n>` |
/// | `[REDACTED:email*****]` | `[REDACTED:email]` |
/// | white space, colours | one blank, nothing |
enum LineShape {
  /// Maximum length of a line; the rest is ignored.
  private static let longest = 300

  /// The shape of a line.
  static func of(_ line: some StringProtocol) -> String {
    var scanner = LineScanner(Array(line.utf8.prefix(4096)))
    let shape = scanner.shape()
    return String(decoding: shape, as: UTF8.self).prefix(longest)
      .trimmingPrefix { $0 == " " }.description
  }
}
