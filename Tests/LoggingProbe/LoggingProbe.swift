import Foundation
import Logging
import TidemarkLogging

/// Ends in the way that its first argument names while it records itself; a test inspects the
/// result.
@main struct LoggingProbe {
  static func main() {
    let way = CommandLine.arguments.dropFirst().first ?? ""
    if way == "chained" { install(SIGSEGV) { _ in _exit(7) } }
    var configuration = LoggingConfiguration(app: "probe")
    configuration.capturesConsole = CommandLine.arguments.contains("--capture")
    if !CommandLine.arguments.contains("--console") { configuration.console = .off }
    let session = Tidemark.start(configuration)
    let logger = Logger(label: "Probe")
    logger.info("before")
    switch way {
    case "segv", "chained": crash()
    case "trap": trap()
    case "fatal": fatalError("no row 817")
    case "abort": abort()
    case "term": raise(SIGTERM)
    case "ignored": ignoreTermination()
    case "kill":
      print("printed last")
      fflush(nil)
      kill(getpid(), SIGKILL)
    case "exit":
      print("printed before the exit")
      exit(3)
    case "handler": exitInHandler(logger)
    case "fork": forkAndLog(logger)
    case "homeless":
      loseHome(of: session)
      abort()
    case "flood":
      for number in 0..<30_000 { logger.info("record \(number) of more than the disk takes") }
    case "chatter":
      for number in 0..<2_000 { print("line \(number), more than a pipe holds unless it is read") }
    case "threads": logFromThreads(logger)
    case "again":
      session.end(.exit(9))
      Tidemark.start(configuration)
      Logger(label: "Probe").info("in the second session")
      return
    case "end":
      session.end()
      logger.info("too late")
    default: break
    }
    logger.info("after")
  }

  private static func install(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void)
  {
    signal(number, handler)
  }

  private static func crash() {
    // An unmapped address that the optimizer cannot know.
    let address = 4096 + CommandLine.arguments.count
    UnsafeMutableRawPointer(bitPattern: address)?.storeBytes(of: 1, as: UInt8.self)
  }

  private static func trap() {
    let empty: [Int] = Array(CommandLine.arguments.prefix(0).map { _ in 1 })
    print(empty[CommandLine.arguments.count])
  }

  /// Replaces our handler by a later one.
  private static func ignoreTermination() {
    install(SIGTERM) { _ in }
    raise(SIGTERM)
  }

  /// The handler interrupts this thread while it writes records, eventually within one.
  private static func exitInHandler(_ logger: Logger) {
    install(SIGUSR1) { _ in exit(4) }
    let thread = pthread_self()
    let hasWritten = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      hasWritten.wait()
      pthread_kill(thread, SIGUSR1)
    }
    while true {
      logger.info("written again and again")
      hasWritten.signal()
    }
  }

  /// Removes the home, and waits until the recorder reports on standard error that another session
  /// continues this one.
  private static func loseHome(of session: LogSession) {
    let former = session.id
    let (errors, reports) = (dup(STDERR_FILENO), Pipe())
    dup2(reports.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
    try? FileManager.default.removeItem(
      atPath: ProcessInfo.processInfo.environment["TIDEMARK_HOME"] ?? "")
    while session.id == former {
      FileHandle(fileDescriptor: errors).write(reports.fileHandleForReading.availableData)
    }
    dup2(errors, STDERR_FILENO)
  }

  private static func logFromThreads(_ logger: Logger) {
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 { logger.info("\(thread) \(number)") }
    }
  }

  /// Swift has no fork; other languages in the process do.
  private static func forkAndLog(_ logger: Logger) {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork") else { return }
    let fork = unsafeBitCast(symbol, to: Fork.self)
    // Another thread writes all the time: the lock is held when the process forks.
    Thread.detachNewThread { while true { logger.debug("not shown") } }
    for _ in 0..<20 {
      let child = fork()
      if child == 0 {
        logger.info("in the child")
        exit(5)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
    }
  }
}
