import Synchronization
import TestSupport
import Testing

@testable import Platform

@Suite(.tags(.small)) struct WeightedSemaphoreTests {
  /// The amount that tasks hold together, and its maximum.
  private final class Ledger: Sendable {
    private let state = Mutex((held: 0, most: 0, order: [Int]()))

    func add(_ amount: Int) {
      state.withLock {
        $0.held += amount
        $0.most = max($0.most, $0.held)
      }
    }
    func record(_ number: Int) { state.withLock { $0.order.append(number) } }
    var most: Int { state.withLock(\.most) }
    var held: Int { state.withLock(\.held) }
    var order: [Int] { state.withLock(\.order) }
  }

  private struct Failure: Error {}

  @Test(arguments: SeededGenerator.cases(200))
  func `a semaphore never grants more than its capacity`(number: Int) async {
    var generator = SeededGenerator(case: number)
    let capacity = Int.random(in: 1...100, using: &generator)
    let amounts = (0..<60).map { _ in Int.random(in: 0...150, using: &generator) }
    let fails = amounts.map { _ in Bool.random(using: &generator) }
    let room = WeightedSemaphore(capacity)
    let ledger = Ledger()
    await withTaskGroup(of: Void.self) { group in
      for (amount, fails) in zip(amounts, fails) {
        group.addTask {
          try? await room.withUnits(amount) { share in
            let held = share.amount
            #expect(held == min(amount, capacity))
            ledger.add(held)
            await Task.yield()
            ledger.add(-held)
            share.shrink(to: held / 2)
            ledger.add(share.amount)
            await Task.yield()
            ledger.add(-share.amount)
            if fails { throw Failure() }
          }
        }
      }
    }
    #expect(ledger.held == 0 && ledger.most <= capacity)
    // All of it is free again.
    await room.withUnits(capacity) { #expect($0.amount == capacity) }
  }

  @Test func `a semaphore serves waiters in order`() async {
    let room = WeightedSemaphore(10)
    let ledger = Ledger()
    await withTaskGroup(of: Void.self) { group in
      await room.withUnits(10) { _ in
        for (number, amount) in [9, 8, 1, 1].enumerated() {
          group.addTask {
            await room.withUnits(amount) { _ in
              ledger.record(number)
              await Task.yield()
            }
          }
          while room.waiting <= number { await Task.yield() }
        }
      }
    }
    // The small ones come after the large ones that were waiting before them.
    #expect(Array(ledger.order.prefix(2)) == [0, 1])
    #expect(ledger.order.count == 4)
  }
}
