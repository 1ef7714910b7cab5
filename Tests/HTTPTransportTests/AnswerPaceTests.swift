import Foundation
import Platform
import TestServers
import TestSupport
import Testing

@testable import HTTPTransport

/// Answers that go on, and never end.
@Suite(.tags(.medium)) struct AnswerPaceTests {
  /// An answer: bytes a second, and after how many seconds it is given up; nil if never.
  struct Answer: Sendable {
    let rate: Double
    let stall: Duration
    let givenUpAfter: Int?
  }

  @Test(arguments: [
    Answer(rate: 8, stall: .seconds(30), givenUpAfter: 60),
    Answer(rate: 8, stall: .seconds(10), givenUpAfter: 60),
    Answer(rate: 1000, stall: .seconds(30), givenUpAfter: 60),
    Answer(rate: 1100, stall: .seconds(30), givenUpAfter: nil),
    Answer(rate: 8, stall: .seconds(300), givenUpAfter: 600),
    Answer(rate: 8, stall: .days(1), givenUpAfter: nil),
  ])
  func `an answer is given up that is too slow over a window`(answer: Answer) {
    var pace = AnswerPace(stallTimeout: answer.stall)
    let end = (0...3600).first { second in
      pace.isTooSlow(received: Int(Double(second) * answer.rate), at: Double(second))
    }
    #expect(end == answer.givenUpAfter)
  }

  @Test func `a fast answer that becomes slow is given up`() {
    var pace = AnswerPace(stallTimeout: .seconds(30))
    let end = (0...600).first { second in
      pace.isTooSlow(received: min(second, 100) * 100_000 + second, at: Double(second))
    }
    #expect(end == 180)
  }

  @Test func `the end of a large body has time to be sent`() {
    var pace = AnswerPace(stallTimeout: .seconds(30))
    let end = (0...3600).first { pace.isTooSlow(received: 0, at: Double($0), over: 10) }
    #expect(end == 600)
  }

  @Test func `pauses of ours, and a clock that jumps, count as no slowness`() {
    var pace = AnswerPace(stallTimeout: .seconds(30))
    for second in 0..<3600 {
      if second % 50 == 0 { pace.restart() }
      #expect(pace.isTooSlow(received: second, at: Double(second)) == false)
    }
    #expect(pace.isTooSlow(received: 0, at: 10) == false)
    #expect(pace.isTooSlow(received: 70_000, at: 100_000) == false)
  }

  /// Each reading of this clock is later than the one before by more than a window.
  @Test func `a request whose answer does not get on fails as timed out`() async throws {
    let server = try ScriptedServer()
    let seconds = Guarded(0.0)
    var options = HTTPTransport.Options()
    options.clock = {
      seconds.withLock { seconds in
        seconds += 100
        return seconds
      }
    }
    let transport = HTTPTransport(options)
    let error = await #expect(throws: TransportError.self) {
      try await transport.send(HTTPRequest(method: "GET", url: server.url))
    }
    #expect(error?.code == .timedOut && error?.message.contains("1024 bytes a second") == true)
  }
}
