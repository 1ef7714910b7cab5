import Foundation
import Platform
import TestServers
import TestSupport
import Testing

@testable import HTTPTransport

@Suite(.tags(.medium)) struct RateLimiterTests {
  /// A clock that is set by hand.
  private final class Hand: Sendable {
    private let seconds = Guarded(0.0)
    var clock: RateLimiter.Clock { { self.seconds.withLock { $0 } } }
    func advance(_ by: Double) { seconds.withLock { $0 += by } }
  }

  @Test func `the average rate never exceeds the limit`() {
    let hand = Hand()
    let rateLimiter = RateLimiter(bytesPerSecond: 1000, now: hand.clock)
    var moved = 0
    for _ in 0..<10_000 {
      if rateLimiter.acquire(37) == 0 { moved += 37 }
      hand.advance(0.001)
    }
    // Ten seconds, a tenth of a second's worth at the start, and one piece on credit.
    #expect((9900...10_137).contains(moved))
  }

  @Test func `an exceeded rate limit returns the time to wait`() {
    let hand = Hand()
    let rateLimiter = RateLimiter(bytesPerSecond: 1000, now: hand.clock)
    #expect(rateLimiter.acquire(600) == 0)
    let wait = rateLimiter.acquire(1)
    #expect(abs(wait - 0.501) < 0.0001)
    hand.advance(wait)
    #expect(rateLimiter.acquire(1) == 0)
  }

  @Test func `idle time gives no credit`() {
    let hand = Hand()
    let rateLimiter = RateLimiter(bytesPerSecond: 1000, now: hand.clock)
    hand.advance(3600)
    #expect(rateLimiter.acquire(100) == 0)
    #expect(rateLimiter.acquire(1) > 0)
  }

  @Test func `a clock that is set back causes no wait`() {
    let hand = Hand()
    let rateLimiter = RateLimiter(bytesPerSecond: 1000, now: hand.clock)
    hand.advance(-5)
    #expect(rateLimiter.acquire(1) == 0)
  }

  @Test func `the rate limit pauses and resumes sending and receiving`() async throws {
    let body = String(repeating: "x", count: 20_000)
    let server = try ScriptedServer([ScriptedServer.answer("200 OK", body: body)])
    // Each reading of this clock is a hundredth of a second later than the one before.
    let hand = Hand()
    let pauses = Guarded(0)
    var options = HTTPTransport.Options()
    options.rateLimiter = RateLimiter(bytesPerSecond: 100_000) {
      hand.advance(0.01)
      pauses.withLock { $0 += 1 }
      return hand.clock()
    }
    let sent = [UInt8](repeating: 7, count: 50_000)
    let response = try await HTTPTransport(options).send(
      HTTPRequest(method: "PUT", url: server.url, body: sent))
    #expect(server.received.first?.body == sent)
    #expect(response.body == Array(body.utf8))
    // 70,000 bytes at 1,000 a reading, the first 10,000 free, the last piece on credit.
    #expect(pauses.withLock { $0 } >= 40)
  }

  @Test func `a paused request can be cancelled at once`() async throws {
    let server = try ScriptedServer()
    let hand = Hand()
    let looks = Guarded(0)
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    var options = HTTPTransport.Options()
    options.rateLimiter = RateLimiter(bytesPerSecond: 1024) {
      let count = looks.withLock { looks in
        looks += 1
        return looks
      }
      if count == 4 { ask.finish() }
      return hand.clock()
    }
    let transport = HTTPTransport(options)
    let task = Task {
      try await transport.send(
        HTTPRequest(method: "PUT", url: server.url, body: [UInt8](repeating: 1, count: 100_000)))
    }
    for await _ in asked {}
    task.cancel()
    let error = await #expect(throws: TransportError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test func `requests beyond the maximum number are refused`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK"), ScriptedServer.answer("200 OK"),
    ])
    var options = HTTPTransport.Options()
    options.maximumRequests = 2
    let transport = HTTPTransport(options)
    let request = HTTPRequest(method: "GET", url: server.url)
    for _ in 0..<2 { #expect(try await transport.send(request).status == 200) }
    let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
    #expect(error?.code == .exhausted)
    #expect(server.received.count == 2)
  }
}
