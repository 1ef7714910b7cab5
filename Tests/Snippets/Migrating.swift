import Logging
import TidemarkLogging

// The code of the page on migration, to ensure that it compiles.

func replaceTheBootstrap() {
  Tidemark.start("Kiosk")
}

func writeToAnotherHandlerToo() {
  let session = Tidemark.begin(LoggingConfiguration(app: "Kiosk"))
  LoggingSystem.bootstrap { label in
    MultiplexLogHandler([
      TidemarkLogHandler(label: label, session: session),
      StreamLogHandler.standardOutput(label: label),
    ])
  }
}
