import Logging
import TidemarkLogging

// The code of TidemarkLogging's tutorial, to ensure that it compiles.

func start() {
  Tidemark.start("Kiosk", version: "2.1")
  let logger = Logger(label: "Checkout")
  logger.info("ready")
}

func sayMore() {
  let session = Tidemark.start("Kiosk")
  session.success("order paid", category: "Checkout")
  session.fault("the basket has a negative sum")
}

func keepPrivate(_ logger: Logger, address: String, name: String) {
  logger.info("signed in: \(address, privacy: .private)")
  logger.info("signed in", metadata: ["user": "\(name, privacy: .private)"])
}

func askForTheLastOne(_ logger: Logger) {
  if let last = Tidemark.previousSession, last.hasCrashed {
    logger.warning("crashed last time: \(last.cause?.description ?? "unknown")")
  }
}

extension Scenario {
  static let checkout = Scenario("Checkout steps")
}

func recordSometimes(_ session: LogSession, basket: [String]) {
  session.debug("basket: \(basket)", scenario: .checkout)
}

func recordSometimesBySwiftLog(_ session: LogSession, basket: [String]) {
  let logger = session.logger("Checkout", scenario: .checkout)
  logger.debug("basket: \(basket)")
}

func captureTheConsole() {
  var configuration = LoggingConfiguration(app: "Kiosk")
  configuration.capturesConsole = true
  Tidemark.start(configuration)
}

func export(_ session: LogSession, to path: String) throws {
  try session.export(to: path, filter: RecordFilter(levels: .from(.info)))
}

func clear(_ session: LogSession) async throws {
  let count = try await session.clear()
  print("\(count) sessions deleted")
}
