import ObjectStore
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// What passes record of the store itself.
@Suite(.tags(.small)) struct StoreStateTests {
  private let error = StoreError(
    .transient, operation: "PUT", target: "a", response: "503 Service Unavailable")
  private let start = Timestamp(milliseconds: 1_700_000_000_000)

  private func state(after passes: Int, sending hasSent: Bool) -> (StoreState, last: Timestamp) {
    var (state, now) = (StoreState(), start)
    for _ in 0..<passes {
      now = now + .hours(1)
      state.failed(error, afterSending: hasSent, at: now)
    }
    return (state, now)
  }

  @Test func `a store that fails for all sessions is asked less and less often`() {
    let (state, last) = state(after: 6, sending: false)
    #expect(state.backoff(at: last + .seconds(14 * 60)) != nil)
    #expect(state.backoff(at: last + .seconds(15 * 60)) == nil)
    #expect(state.isStale(after: .hours(3), at: last, waits: true))
  }

  @Test func `a store that fails for some sessions does not delay the others`() {
    let (state, last) = state(after: 6, sending: true)
    #expect(state.backoff(at: last + .seconds(30)) != nil)
    #expect(state.backoff(at: last + .seconds(60)) == nil)
    #expect(!state.isStale(after: .hours(3), at: last, waits: true))
  }
}
