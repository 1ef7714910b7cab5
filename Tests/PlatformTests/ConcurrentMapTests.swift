import Synchronization
import TestSupport
import Testing

@testable import Platform

@Suite(.tags(.small)) struct ConcurrentMapTests {
  @Test func `sequential work runs in the caller's task`() async throws {
    @Sendable func task() -> Int? { withUnsafeCurrentTask { $0?.hashValue } }
    let caller = task()
    let log = Mutex<[String]>([])
    try await Parallelism.$isSequential.withValue(true) {
      #expect(Parallelism.cores == 1)
      try await Array(0..<3).concurrentForEach { number in
        log.withLock { $0.append("work \(number)") }
        #expect(task() == caller)
      } _: {
        log.withLock { $0.append("body") }
      }
    }
    #expect(log.withLock { $0 } == ["work 0", "body", "work 1", "body", "work 2", "body"])
  }

  @Test(arguments: SeededGenerator.cases(200))
  func `concurrent work keeps the order and the limit`(number: Int) async throws {
    var generator = SeededGenerator(case: number)
    let limit = Int.random(in: 1...10, using: &generator)
    let yields = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
      Int.random(in: 0...9, using: &generator)
    }
    let ahead = Mutex((held: 0, most: 0))
    var results: [Int] = []
    try await Array(yields.enumerated()).concurrentForEach(atOnce: limit) { index, yields in
      ahead.withLock {
        $0.held += 1
        $0.most = max($0.most, $0.held)
      }
      for _ in 0..<yields { await Task.yield() }
      return index
    } _: {
      results.append($0)
      ahead.withLock { $0.held -= 1 }
    }
    #expect(results == Array(yields.indices))
    #expect(ahead.withLock(\.most) <= limit)
  }

  private struct Failure: Error {}

  @Test func `the first failure ends the work`() async {
    let begun = Mutex(0)
    await #expect(throws: Failure.self) {
      try await Array(0..<100).concurrentMap(atOnce: 4) { number in
        begun.withLock { $0 += 1 }
        if number == 10 { throw Failure() }
        return number
      }
    }
    #expect(begun.withLock(\.self) < 20)
  }
}
