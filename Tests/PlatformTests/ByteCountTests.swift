import Foundation
import Platform
import Testing

@Suite struct ByteCountTests {
  private struct Numbers: Codable, Equatable {
    var size: ByteCount
    var limit: ByteCount?
  }

  @Test func itsJSONIsABareInteger() throws {
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

  @Test(
    arguments: [
      ("0", 0), ("1125899906842624", 1 << 50), ("-1", -1), ("", nil), ("1 ", nil), ("1e3", nil),
      ("9223372036854775808", nil),
    ] as [(String, ByteCount?)])
  func textIsReadAsANumber(text: String, count: ByteCount?) {
    #expect(ByteCount(text) == count)
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (1_234_567, "1.2 MB"),
      (5_000_000_000_000, "5000.0 GB"), (-5, "-5 B"),
    ] as [(ByteCount, String)])
  func peopleSeeUnits(count: ByteCount, text: String) {
    #expect(count.text == text)
  }

  @Test func totalsThatDoNotFitAreTheLargestCount() {
    #expect(([.max, 1, 2] as [ByteCount]).total == .max)
    #expect(([2, 3] as [ByteCount]).total == 5 && ([] as [ByteCount]).total == 0)
  }

  @Test func buffersGetTheNearestLength() {
    #expect(Int(clamping: ByteCount(7)) == 7 && Int(clamping: ByteCount.max) == .max)
  }
}
