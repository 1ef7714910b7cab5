import Allocations
import Foundation
import Logging
import TidemarkLogging

/// The cost of a record, compared with a plain handler in the same run: `Scripts/bench --logging`.
@main struct LoggingBenchmark {
  private static let rounds = 7
  private static let records = 200_000

  /// Nanoseconds and allocations per record.
  private typealias Cost = (time: Double, allocations: Double)

  /// The cost of a number of records in each of two ways, as the medians of alternating rounds: so
  /// other load on the machine affects both alike.
  private static func measure(
    threads: Int, _ bodies: [@Sendable (Int) -> Void]
  ) -> [Cost] {
    let each = records / threads
    for body in bodies { body(1000) }
    var costs = bodies.map { _ in (times: [Double](), counts: [Double]()) }
    for _ in 0..<rounds {
      for (number, body) in bodies.enumerated() {
        let before = allocations_count()
        let start = DispatchTime.now().uptimeNanoseconds
        if threads == 1 {
          body(each)
        } else {
          DispatchQueue.concurrentPerform(iterations: threads) { _ in body(each) }
        }
        let time = Double(DispatchTime.now().uptimeNanoseconds - start)
        costs[number].times.append(time / Double(each * threads))
        costs[number].counts.append(
          Double(allocations_count() - before) / Double(each * threads))
      }
    }
    return costs.map { ($0.times.sorted()[rounds / 2], $0.counts.sorted()[rounds / 2]) }
  }

  static func main() throws {
    let folder = CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory()
    let file = PlainFileHandler.File(folder + "/plain.log")
    var configuration = LoggingConfiguration(app: "benchmark")
    configuration.home = folder + "/home"
    configuration.console = .off
    configuration.rotateAt = 1_000_000_000
    let session = Tidemark.begin(configuration)
    let plain = Logger(label: "Net") { PlainFileHandler(file, label: $0) }
    let ours = Logger(label: "Net") { TidemarkLogHandler(label: $0, session: session) }
    let scenario = session.logger("Net", scenario: .off)
    let stream = Logger(label: "Net") { StreamLogHandler.standardError(label: $0) }

    print("one record                      plain            ours     ratio   allocations")
    for threads in [1, 8] {
      for (name, log) in Self.messages {
        row("\(name), \(threads) threads", threads: threads, { log(plain, $0) }, { log(ours, $0) })
      }
    }
    for threads in [1, 8] {
      row(
        "disabled level, \(threads) threads", threads: threads, { Self.disabled(stream, $0) },
        { Self.disabled(ours, $0) })
      row(
        "disabled scenario, \(threads) threads", threads: threads, { Self.disabled(stream, $0) },
        { count in
          for number in 0..<count { session.info("request \(number) done", scenario: .off) }
        })
      row(
        "disabled scenario's logger, \(threads) threads", threads: threads,
        { Self.disabled(stream, $0) }, { Self.disabled(scenario, $0) })
    }
    session.end()
  }

  private static let messages: [(String, @Sendable (Logger, Int) -> Void)] = [
    (
      "text",
      { logger, count in
        for _ in 0..<count { logger.info("connection to the server was opened again") }
      }
    ),
    (
      "interpolation",
      { logger, count in
        for number in 0..<count { logger.info("request \(number) done in 12 ms") }
      }
    ),
    (
      "metadata",
      { logger, count in
        for number in 0..<count {
          logger.info("request done", metadata: ["id": "\(number)", "user": "anna"])
        }
      }
    ),
  ]

  private static func disabled(_ logger: Logger, _ count: Int) {
    for number in 0..<count { logger.debug("request \(number) done") }
  }

  /// Measures and prints, unless the second argument names other rows.
  private static func row(
    _ name: String, threads: Int, _ one: @escaping @Sendable (Int) -> Void,
    _ other: @escaping @Sendable (Int) -> Void
  ) {
    guard CommandLine.arguments.dropFirst(2).first.map(name.hasPrefix) ?? true else { return }
    let costs = measure(threads: threads, [one, other])
    func text(_ value: Double, _ unit: String) -> String {
      String(format: "%9.0f %@", value, unit)
    }
    print(
      name.padding(toLength: 28, withPad: " ", startingAt: 0) + text(costs[0].time, "ns")
        + text(costs[1].time, "    ns")
        + String(format: "  %6.2f", costs[1].time / costs[0].time)
        + String(format: "   %.2f / %.2f", costs[0].allocations, costs[1].allocations))
  }
}

extension Scenario {
  /// A scenario that is never switched on.
  fileprivate static let off = Scenario("off")
}
