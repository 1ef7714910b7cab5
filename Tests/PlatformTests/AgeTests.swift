import TestSupport
import Testing

@testable import Platform

@Suite(.tags(.small)) struct AgeTests {
  @Test(
    arguments: [
      ("0", 0), ("90", 90), ("90s", 90), ("10m", 600), ("2h", 7200), ("7d", 604_800),
      ("4w", 2_419_200), ("31535999999", 31_535_999_999), ("31536000000", nil), ("", nil),
      ("d", nil), ("-1s", nil), ("1.5h", nil), ("1y", nil), ("9223372036854775807w", nil),
      ("١s", nil),
    ] as [(String, Int64?)])
  func agesAreRead(text: String, seconds: Int64?) {
    #expect(Age.parse(text) == seconds.map { .seconds($0) })
  }

  @Test(
    arguments: [
      (.zero, "0 s"), (.milliseconds(59_999), "59 s"), (.seconds(60), "1 m"),
      (.seconds(7199), "1 h"), (.days(3), "3 d"), (.seconds(-7200), "-2 h"),
      (.milliseconds(-999), "0 s"), (.seconds(Int64.min), "-106751991167300 d"),
    ] as [(Duration, String)])
  func agesAreWritten(span: Duration, text: String) { #expect(Age.text(span) == text) }
}
