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

  @Test func sumsThatDoNotFitAreReported() {
    #expect(ByteCount.max.addingReportingOverflow(1).overflow)
    #expect(ByteCount(2).addingReportingOverflow(3) == (5, false))
  }

  @Test func buffersGetTheNearestLength() {
    #expect(Int(clamping: ByteCount(7)) == 7 && Int(clamping: ByteCount.max) == .max)
  }
}
