import Foundation
import Platform
import TestSupport
import Testing

@Suite(.tags(.small)) struct ByteCountTests {
  private struct Numbers: Codable, Equatable {
    var size: ByteCount
    var limit: ByteCount?
  }

  @Test func `a byte count is an integer in JSON`() throws {
    let numbers = Numbers(size: 42, limit: .max)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = try encoder.encode(numbers)
    #expect(String(decoding: json, as: UTF8.self) == #"{"limit":9223372036854775807,"size":42}"#)
    #expect(try JSONDecoder().decode(Numbers.self, from: json) == numbers)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Numbers.self, from: Data(#"{"size":"42"}"#.utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Numbers.self, from: Data(#"{"size":9223372036854775808}"#.utf8))
    }
  }

  /// Counts come from files and stores that others may have made.
  @Test func `sums and differences stay within the numbers there are`() {
    let least = ByteCount(Int64.min)
    #expect(ByteCount.max + 1 == .max && .max - (-1) == ByteCount.max)
    #expect(least - 1 == least && least + (-1) == least)
    #expect([ByteCount.max, 5, .max].total == .max && [2, 3].total == ByteCount(5))
  }

  @Test(
    arguments: [
      ("0", 0), ("1125899906842624", 1 << 50), ("-1", -1), ("", nil), ("1 ", nil), ("1e3", nil),
      ("9223372036854775808", nil),
    ] as [(String, ByteCount?)])
  func `a byte count is parsed from a plain integer`(text: String, count: ByteCount?) {
    #expect(ByteCount(text) == count)
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (1_234_567, "1.2 MB"),
      (5_000_000_000_000, "5.0 TB"), (5_000_000_000_000_000, "5000.0 TB"), (-5, "-5 B"),
      (999_949, "999.9 KB"), (999_950, "1.0 MB"),
    ] as [(ByteCount, String)])
  func `a byte count is shown with decimal units`(count: ByteCount, text: String) {
    #expect(count.text == text)
  }

  @Test(
    arguments: [
      ("0", 0), ("1000", 1000), ("500k", 500_000), ("500K", 500_000), ("5MB", 5_000_000),
      ("10 MiB", 10_485_760), ("1.5G", 1_500_000_000), ("1.2 MB", 1_200_000),
      ("2Gi", 2_147_483_648),
      ("3TB", 3_000_000_000_000), ("7 B", 7), ("0.5k", 500), ("", nil), ("k", nil), ("-1k", nil),
      ("1.5", nil), ("1.2345k", nil), ("1..5k", nil), ("1 ", nil), ("1i", nil), ("1x", nil),
      ("1kk", nil), ("9223372036854775807", .max), ("9223372036854775808", nil),
      ("10000000T", nil), ("٣k", nil),
    ] as [(String, ByteCount?)])
  func `sizes are parsed with their units`(text: String, count: ByteCount?) {
    #expect(ByteCount(size: text) == count)
  }

  @Test func `a total that overflows is the largest count`() {
    #expect(([.max, 1, 2] as [ByteCount]).total == .max)
    #expect(([2, 3] as [ByteCount]).total == 5 && ([] as [ByteCount]).total == 0)
  }

  @Test func `a byte count is clamped to a buffer length`() {
    #expect(Int(clamping: ByteCount(7)) == 7 && Int(clamping: ByteCount.max) == .max)
  }
}
