import Logging
import TidemarkLogging

/// A shop's kiosk that records its sessions: two lines, and the library's other features.
@main struct Example {
  static func main() async throws {
    var configuration = LoggingConfiguration(app: "example", version: "1.0")
    configuration.capturesConsole = true
    let session = Tidemark.start(configuration)
    try session.describe { $0.userId = "anna" }

    if let last = Tidemark.previousSession, last.hasCrashed {
      let cause = last.cause.map { "\($0)" } ?? "unknown cause"
      print("the last session crashed: \(cause)")
    }

    let logger = Logger(label: "Checkout")
    await withTaskGroup(of: Void.self) { tasks in
      for task in 1...8 {
        tasks.addTask {
          for order in 1...25 {
            logger.info("order \(order) paid", metadata: ["task": "\(task)"])
            session.debug("basket of order \(order)", scenario: .checkout)
          }
        }
      }
    }
    logger.notice("paid by \("anna@example.com", privacy: .private)")
    session.success("all orders paid")
    print("ready")

    if CommandLine.arguments.contains("--wait") { try await Task.sleep(for: .seconds(600)) }
  }
}

extension Scenario {
  /// Every step of a checkout.
  static let checkout = Scenario("Checkout")
}
