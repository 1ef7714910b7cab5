import Platform
import TestSupport
import Testing

@Suite(.tags(.small)) struct GuardedTests {
  private struct Token: ~Copyable {
    var count = 0
  }

  private struct Refusal: Error, Equatable {}

  @Test func `a noncopyable value is changed by one task at a time`() async {
    let token = Guarded(Token())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<1000 { token.withLock { $0.count += 1 } } }
      }
    }
    #expect(token.withLock { $0.count } == 8000)
  }

  @Test func `an error leaves the lock unlocked`() {
    let token = Guarded<Token?>(Token())
    #expect(throws: Refusal()) {
      try token.withLock { token throws(Refusal) in
        token = nil
        throw Refusal()
      }
    }
    #expect(token.withLock { $0 == nil })
  }
}
