import ArgumentParser
import Foundation
import LogRecords
import Platform
import SessionLog
import SessionReading

/// `tidemark play ID`.
struct Play: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Replay a recorded terminal session.",
    discussion: """
      For sessions that were recorded with 'run --pty'; others show their lines in the time they \
      took. Only what draws reaches the terminal: titles, the clipboard and questions to the \
      terminal are left out. Ctrl-C ends it. 'tidemark export --format asciicast' writes the same \
      for other players.

      Examples:
        tidemark play k3f9a7c2 --speed 2 -i 2s
      """)

  @Argument(
    help: "The session; its id may be shortened.", completion: .custom(SessionCompletion.ids))
  var id: String
  @Option(help: ArgumentHelp("Playback speed, e.g. 2.", valueName: "factor"))
  var speed = 1.0
  @Option(
    name: [.customShort("i"), .long],
    help: ArgumentHelp("The longest pause, e.g. 2s.", valueName: "time"),
    transform: ArgumentValue.span)
  var idleTimeLimit: Duration?
  @OptionGroup var side: SideOptions
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    guard speed > 0, speed.isFinite else {
      throw ValidationError("--speed takes a number above 0.")
    }
  }

  func run() async throws {
    guard Console.outputIsTerminal else {
      throw Failure(
        .usage, "play needs a terminal; 'tidemark show --plain' prints what the program printed")
    }
    let setup = try owner.setup(diagnostics.logger(), isNeeded: false)
    let catalog = try side.catalog(setup)
    let entry = try await side.entry(named: id, in: catalog)
    guard entry.sidecar.format == .lines else {
      throw Failure(.usage, "\(entry.session) has no times; 'tidemark show' prints it")
    }
    let reader = try side.reader(of: entry, in: catalog)
    signal(SIGINT) { _ in
      let reset = TerminalFilter.reset
      _ = write(STDOUT_FILENO, reset.utf8Start, reset.utf8CodeUnitCount)
      _exit(130)
    }
    var replay = Replay()
    var filter = TerminalFilter()
    var shown: Timestamp?
    func show(_ time: Timestamp?, _ event: Replay.Event) {
      guard case .output(let bytes) = event else { return }
      if let time, let before = shown { wait(time - before) }
      shown = time ?? shown
      filter.pass(bytes).withUnsafeBytes(Console.draw)
    }
    defer { Array("\(TerminalFilter.reset)".utf8).withUnsafeBytes(Console.draw) }
    let isWhole = try await reader.read(RecordChoice(RecordFilter()), .verified) {
      replay.add($0, show)
    }
    replay.finish(show)
    if !isWhole { throw ExitStatus.integrity }
  }

  private func wait(_ span: Duration) {
    let limit = idleTimeLimit ?? span
    let pause = Double(max(.zero, min(span, limit)).milliseconds) / speed
    if pause >= 1 { poll(nil, 0, Int32(min(pause, Double(Int32.max)))) }
  }
}
