import Foundation
import ObjectStore
import Platform
import TestSupport
import Testing

/// A server's clock, as learned from the dates of answers.
@Suite(.tags(.small)) struct ServerClockTests {
  private func answer(_ clock: ServerClock, at time: Int64, ahead: Int64, way: Int64) {
    // The server answers in the middle, and states the second.
    let server = (time + way / 2 + ahead) / 1000
    clock.record(
      ServerTime(milliseconds: server * 1000), sent: Timestamp(milliseconds: time),
      received: Timestamp(milliseconds: time + way))
  }

  @Test func `the clock offset is unknown before the first response`() {
    #expect(ServerClock().offset == nil)
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `the measured clock offset is within its error bound`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let ahead = Int64.random(in: -600_000...600_000, using: &generator)
    let clock = ServerClock()
    var time: Int64 = 1_769_092_205_123
    for _ in 0..<Int.random(in: 1...30, using: &generator) {
      answer(clock, at: time, ahead: ahead, way: Int64.random(in: 0...400, using: &generator))
      time += Int64.random(in: 0...5000, using: &generator)
    }
    let offset = try #require(clock.offset).milliseconds
    #expect(abs(offset - ahead) <= (abs(ahead) < 2400 ? 2400 : 1200))
  }

  @Test func `clocks that may be equal have offset zero`() {
    let clock = ServerClock()
    for time in stride(from: Int64(1_769_092_205_123), to: 1_769_092_305_000, by: 777) {
      answer(clock, at: time, ahead: 0, way: 30)
    }
    #expect(clock.offset == .zero)
  }

  @Test func `a clock offset that jumps replaces the measured one`() throws {
    let clock = ServerClock()
    answer(clock, at: 1_769_092_205_123, ahead: 0, way: 10)
    answer(clock, at: 1_769_092_205_200, ahead: 3_600_000, way: 10)
    #expect(abs(try #require(clock.offset).milliseconds - 3_600_000) < 1100)
  }
}
