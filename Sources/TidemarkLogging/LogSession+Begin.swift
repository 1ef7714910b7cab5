import LogRecords
package import Platform
package import SessionLog

extension LogSession {
  /// Begins a session; a failure costs a line on standard error, never the program.
  package static func begin(
    _ configuration: LoggingConfiguration, in home: Home, on machine: Machine,
    _ environment: [String: String]
  ) -> LogSession {
    var writer: SessionWriter?
    var capture: ConsoleCapture?
    var problem: (any Error)?
    do {
      try home.create()
      let made = try SessionWriter(
        home: home, device: Device.load(home, on: machine), appName: configuration.app,
        appVersion: configuration.appVersion, options: options(configuration), machine: machine)
      writer = made
      if configuration.capturesConsole { capture = try ConsoleCapture(into: made) }
    } catch {
      problem = error
      let what = writer == nil ? "this session is not recorded" : "the console is not recorded"
      ConsoleOutput.write(Array("\(configuration.app): \(what): \(error)\n".utf8), 2)
    }
    var console: ConsoleOutput?
    if case .standardError(let level) = configuration.console {
      console = ConsoleOutput(from: level, environment: environment)
      // Records are in the log already.
      if let capture { console?.use(capture.consoleOfErrors) }
    }
    let capturesConsole = capture != nil
    let (userId, build) = (configuration.userId, configuration.buildNumber)
    if capturesConsole || userId != nil || build != nil {
      try? writer?.describe { sidecar in
        sidecar.userId = userId ?? sidecar.userId
        sidecar.buildNumber = build ?? sidecar.buildNumber
        if capturesConsole { sidecar.recorder?.capturesConsole = true }
      }
    }
    let session = LogSession(
      writer: writer, problem: problem, capture: capture, console: console,
      recordLevel: configuration.recordLevel, machine: machine)
    session.startTicking()
    LastRecord.watch(session, catchesSignals: configuration.catchesSignals)
    return session
  }

  private static func options(_ configuration: LoggingConfiguration) -> RecordingOptions {
    var options = RecordingOptions()
    options.fsync = configuration.fsync
    options.rotateAt = configuration.rotateAt
    options.localMax = configuration.localMax
    options.scenarios = configuration.scenarios.compactMap(\.name)
    options.leavesDiskToTick = true
    let app = configuration.app
    options.moved = { LastRecord.move(from: $0, to: $1) }
    options.report = { ConsoleOutput.write(Array("\(app): \($0)\n".utf8), 2) }
    return options
  }
}
