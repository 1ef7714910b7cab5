import Platform
import TestSupport
import Testing

@Suite(.tags(.small)) struct UnpackLimitTests {
  private static let gigabyte: ByteCount = 1 << 30

  @Test func `large content is refused if it expands too much`() {
    let limit = UnpackLimit()
    #expect(limit.refusal(of: Self.gigabyte, from: 1) == nil)
    #expect(limit.refusal(of: Self.gigabyte + 1, from: 1) != nil)
    #expect(limit.refusal(of: 250 << 30, from: Self.gigabyte) == nil)
    #expect(limit.refusal(of: (250 << 30) + 1, from: Self.gigabyte) != nil)
    #expect(limit.refusal(of: .max, from: .max) == nil)
  }

  @Test func `an explicit limit replaces the default`() {
    let limit = UnpackLimit(maximum: 10)
    #expect(limit.refusal(of: 10, from: 1) == nil)
    #expect(limit.refusal(of: 11, from: 100) != nil)
  }
}
