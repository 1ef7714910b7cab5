import ObjectStore
import Platform
import SessionLog
import Sync
import TestSupport
import Testing

@testable import TidemarkUpload

/// In which order root uploads from homes, and when it stops.
@Suite(.tags(.medium)) struct UploadRoundTests {
  private let homes: [TestHome]

  init() throws { homes = try (0..<3).map { _ in try TestHome() } }

  private func round(_ maximum: Int? = nil, random: UInt64 = 0) -> UploadRound {
    var number = random
    return UploadRound(homes.map(\.home), maxRequests: maximum) {
      defer { number &+= 1 }
      return number
    }
  }

  /// The number of homes that are begun with.
  private func drain(_ round: inout UploadRound) -> Int {
    var count = 0
    while round.next() != nil { count += 1 }
    return count
  }

  /// A report as sent by a home's process.
  private func report(
    on home: TestHome, isStoreDown: Bool = false
  ) -> UploadRound.Report {
    var pass = UploadPassReport(device: home.device.deviceId, store: "file:///store")
    pass.hasContactedStore = true
    if isStoreDown {
      pass.upload.stoppedBy = StoreError(
        .unreachable, operation: "PUT", target: "log", response: "no route to host")
    }
    return UploadRound.Report(on: home.home, pass)
  }

  @Test func `a home that fails or reports nothing does not stop the others`() async {
    var round = round()
    var visited: [Home] = []
    while let home = round.next() {
      visited.append(home)
      round.ended(home, nil)
    }
    #expect(visited == homes.map(\.home))
    #expect(await round.continues { true } == false)
    #expect(!round.isStopped)
  }

  @Test func `the order is random`() {
    // Before the second number the count overflows, so that it is the lowest.
    var round = round(random: .max)
    let first = round.next()
    #expect(first == homes[1].home)
  }

  @Test(arguments: [true, false])
  func `the store is asked before a report ends the round`(isStoreDown: Bool) async {
    var round = round()
    let first = round.next()
    #expect(first == homes[0].home)
    round.ended(homes[0].home, report(on: homes[0], isStoreDown: true))
    #expect(drain(&round) == 0)
    #expect(await round.continues { isStoreDown } == !isStoreDown)
    #expect(round.isStopped == isStoreDown)
    #expect(drain(&round) == (isStoreDown ? 0 : 2))
  }

  @Test func `homes that get no requests are left to a later round`() {
    var round = round(100)
    #expect(round.requests == 50)
    #expect(drain(&round) == 2)
  }
}
