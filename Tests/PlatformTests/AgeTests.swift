import TestSupport
import Testing

@testable import Platform

@Suite(.tags(.small)) struct AgeTests {
  @Test(
    arguments: [
      ("0", 0), ("90", nil), ("30 ", nil), ("90s", 90), ("10m", 600), ("2h", 7200), ("7d", 604_800),
      ("4w", 2_419_200), ("31535999999s", 31_535_999_999), ("31536000000s", nil), ("", nil),
      ("d", nil), ("-1s", nil), ("1.5h", nil), ("1y", 31_536_000),
      ("2 months", 5_184_000), ("9223372036854775807w", nil),
      ("١s", nil), ("1h30m", 5400), ("5min", 300), ("2 days", 172_800), ("1h 30 m", 5400),
      ("1 week 2d", 777_600), ("1h30", nil), ("30 1h", nil), ("h30m", nil), ("1h ", nil),
      ("1M", nil), ("999y", 31_504_464_000), ("1001y", nil),
    ] as [(String, Int64?)])
  func `ages are parsed with their units`(text: String, seconds: Int64?) {
    #expect(Age.parse(text) == seconds.map { .seconds($0) })
  }

  @Test(
    arguments: [
      (.zero, "0 s"), (.milliseconds(59_999), "59 s"), (.seconds(60), "1 m"),
      (.seconds(7199), "1 h"), (.days(3), "3 d"), (.seconds(-7200), "-2 h"),
      (.milliseconds(-999), "0 s"), (.seconds(Int64.min), "-106751991167300 d"),
    ] as [(Duration, String)])
  func `ages are written in the largest whole unit`(span: Duration, text: String) {
    #expect(Age.text(span) == text)
  }

  @Test(
    arguments: [
      (.zero, "0s"), (.seconds(59), "59s"), (.seconds(61), "1m1s"), (.seconds(7200), "2h"),
      (.seconds(7999), "2h13m"), (.days(3) + .hours(4), "3d4h"), (.seconds(-5), "0s"),
    ] as [(Duration, String)])
  func `compact ages are written in a form that can be parsed`(span: Duration, text: String) {
    #expect(Age.compact(span) == text)
    #expect(Age.parse(text) != nil)
  }

  @Test(
    arguments: [
      (.zero, "0 s ago"), (.seconds(125), "2 m ago"), (.seconds(-7200), "in 2 h"),
    ] as [(Duration, String)])
  func `a future time is written without a minus sign`(span: Duration, text: String) {
    #expect(Age.ago(span) == text)
  }
}
