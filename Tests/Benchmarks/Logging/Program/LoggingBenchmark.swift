import Allocations
import Foundation
import Logging
import TidemarkLogging

/// The cost of a record, compared with a plain handler in the same run: `Scripts/bench --logging`.
@main struct LoggingBenchmark {
  private static let rounds = 7
  private static let records = 200_000

  /// Nanoseconds and allocations per record, as the median of some rounds.
  private static func measure(
    threads: Int, _ body: @escaping @Sendable (Int) -> Void
  ) -> (time: Double, allocations: Double) {
    let each = records / threads
    body(1000)
    var times: [Double] = []
    var counts: [Double] = []
    for _ in 0..<rounds {
      let before = allocations_count()
      let start = DispatchTime.now().uptimeNanoseconds
      if threads == 1 {
        body(each)
      } else {
        DispatchQueue.concurrentPerform(iterations: threads) { _ in body(each) }
      }
      times.append(
        Double(DispatchTime.now().uptimeNanoseconds - start) / Double(each * threads))
      counts.append(Double(allocations_count() - before) / Double(each * threads))
    }
    return (times.sorted()[rounds / 2], counts.sorted()[rounds / 2])
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
    let scenario = Scenario("off")
    let noop = Logger(label: "Net") { _ in SwiftLogNoOpLogHandler() }

    print("one record                      plain            ours     ratio   allocations")
    for threads in [1, 8] {
      for (name, log) in Self.messages {
        let one = measure(threads: threads) { log(plain, $0) }
        let other = measure(threads: threads) { log(ours, $0) }
        row("\(name), \(threads) threads", one, other)
      }
    }
    row(
      "disabled level", measure(threads: 1) { Self.disabled(noop, $0) },
      measure(threads: 1) { Self.disabled(ours, $0) })
    row(
      "disabled scenario", measure(threads: 1) { Self.disabled(noop, $0) },
      measure(threads: 1) { count in
        for number in 0..<count { session.info("request \(number) done", scenario: scenario) }
      })
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

  private static func row(
    _ name: String, _ one: (time: Double, allocations: Double),
    _ other: (time: Double, allocations: Double)
  ) {
    func text(_ value: Double, _ unit: String) -> String {
      String(format: "%9.0f %@", value, unit)
    }
    print(
      name.padding(toLength: 26, withPad: " ", startingAt: 0) + text(one.time, "ns")
        + text(other.time, "    ns") + String(format: "  %6.2f", other.time / one.time)
        + String(format: "   %.2f / %.2f", one.allocations, other.allocations))
  }
}
