import Foundation
import TestSupport
import Testing

#if os(Linux)
  /// A thousand sessions, or fifty, with a process killed without warning: what was written to the
  /// log is in the store, once, and the verdict is right.
  @Suite(.tags(.large)) struct CrashCampaignTests {
    /// Rounds per victim.
    private static let rounds = SeededGenerator.cases(200).count
    private static let isFull = rounds == 200

    @Test(arguments: [CrashRound.Victim.program, .recorder, .uploader])
    func `a kill at any instant loses no data`(_ victim: CrashRound.Victim) async throws {
      var left: [String: Int] = [:]
      for number in 0..<Self.rounds {
        let outcome = try await CrashRound(victim, number: number).run()
        #expect(outcome.problems == [])
        for name in outcome.leftBehind { left[name, default: 0] += 1 }
      }
      Self.report(left, victim)
    }

    @Test(arguments: [CrashRound.Victim.recorderCalls, .uploaderCalls])
    func `a kill around a call that syncs, renames or cuts files loses no data`(
      _ victim: CrashRound.Victim
    ) async throws {
      var left: [String: Int] = [:]
      func run(_ number: Int, _ point: CrashRound.Point) async throws -> Int {
        let outcome = try await CrashRound(victim, number: number, point: point).run()
        #expect(outcome.problems == [])
        for name in outcome.leftBehind { left[name, default: 0] += 1 }
        return outcome.calls
      }
      // More calls than any round makes.
      let calls = try await run(0, .init(number: .max, isAfter: false))
      #expect(calls > 10)
      var random = SeededGenerator(case: victim == .recorderCalls ? 1 : 2)
      var number = 1
      if Self.isFull {
        for isAfter in [false, true] {
          var call = 1
          while try await run(number, .init(number: call, isAfter: isAfter)) >= call {
            (call, number) = (call + 1, number + 1)
          }
          #expect(call > 10)
        }
      }
      for number in number..<max(number, Self.rounds) {
        // One in each tenth of all calls.
        let (low, high) = (number * calls / Self.rounds, (number + 1) * calls / Self.rounds)
        let call = Self.isFull ? 1..<(calls + 1) : max(1, low)..<max(2, high)
        _ = try await run(
          number,
          .init(
            number: Int.random(in: call, using: &random), isAfter: Bool.random(using: &random)))
      }
      Self.report(left, victim)
    }

    /// Remaining files do no harm, but use space.
    private static func report(_ left: [String: Int], _ victim: CrashRound.Victim) {
      for (name, count) in left.sorted(by: { $0.key < $1.key }) {
        print("\(victim): left behind \(count) times: \(name)")
      }
    }
  }
#endif
