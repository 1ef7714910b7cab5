import ArgumentParser
import Foundation
import Platform
import SessionLog

/// A command that root starts in a process for another user's home; see ``HomeProcess``.
protocol HomeCommand: ParsableCommand {
  /// The budget of such a process.
  static var budget: ProcessBudget { get }
  /// The user for whose home root has started this process; nil in any other.
  var homeOf: String? { get }
  /// Opens the user's home with root's rights, and continues with the user's.
  func openHome(of user: String) throws -> CommandContext
}

/// A process that root starts for another user's home, with the user's rights, a budget, and a pipe
/// for its result.
///
/// Users control the content of their homes. If reading it crashes, loops or exhausts memory, that
/// affects one process, which has no more rights than the user.
enum HomeProcess {
  /// The descriptor for the result.
  static let resultDescriptor: Int32 = 3
  /// Maximum bytes read of a process's result and output.
  private static let (resultLimit, outputLimit, errorLimit) = (16 << 20, 4 << 20, 1 << 20)

  private static let homeOption = "--home-of"

  // MARK: For root

  /// Starts a process, whose outputs are its result, standard output and standard error.
  ///
  /// - Parameters:
  ///   - arguments: a ``HomeCommand``, and what it is to do.
  ///   - home: another user's home.
  ///   - time: the time after which the process is killed if it has not ended itself.
  /// - Returns: nil for a home without a user.
  /// - Throws: ``Platform/SystemError``.
  static func start(
    _ arguments: [String], for home: Home, within time: Duration
  ) throws -> SupervisedProcess? {
    guard let user = home.owner?.name else { return nil }
    return try SupervisedProcess(
      child(arguments + [homeOption, user]),
      reading: [
        .init(resultDescriptor, limit: resultLimit), .init(STDOUT_FILENO, limit: outputLimit),
        .init(STDERR_FILENO, limit: errorLimit),
      ], for: time, on: .current)
  }

  /// This program with other arguments, to read what users control: a crash starts no other program.
  static func child(_ arguments: [String]) -> ChildProcess {
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_BACKTRACE"] = "enable=no"
    var child = ChildProcess([Console.ownPath] + arguments, environment: environment)
    child.defaultSignals = [SIGALRM, SIGPIPE, SIGXCPU]
    return child
  }

  /// Prints what a process has printed.
  static func relayOutput(of process: SupervisedProcess, in home: Home) {
    let (output, errors) = (process.outputs[1], process.outputs[2])
    if !output.bytes.isEmpty { Console.write(output.bytes) }
    if !errors.bytes.isEmpty { Console.writeError(String(decoding: errors.bytes, as: UTF8.self)) }
    if output.isCut || errors.isCut {
      Console.complain("\(home.path): output was cut: it exceeded the limit")
    }
  }

  /// What kept a process from ending by itself, for a person; nil if nothing did.
  static func problem(of process: SupervisedProcess, within time: Duration) -> String? {
    switch process.end {
    case .exited: nil
    case .overdue, .killed(SIGALRM), .killed(SIGXCPU): "it took more than \(Age.text(time))"
    case .stopped: "its process was suspended repeatedly"
    case .stuck:
      "its process cannot be ended, because it waits for a file system that does not answer: unmount "
        + "what is mounted there"
    case .killed(let signal): "its process was ended by signal \(signal)"
    case nil: "its process has not ended"
    }
  }

  // MARK: In the process

  /// The budget of this process; nil unless root started it for a home.
  ///
  /// Written before there is a second thread.
  nonisolated(unsafe) private(set) static var imposed: ImposedBudget?
  /// The home for which root has started this process; nil in any other.
  ///
  /// Written before there is a second thread.
  nonisolated(unsafe) private(set) static var setup: Swift.Result<CommandContext, any Error>?
  /// Ends the process when root's has ended, which starts another one when it needs it.
  ///
  /// Written before there is a second thread.
  nonisolated(unsafe) private static var watch: Ticker?
  nonisolated(unsafe) private static var isResultWanted = false
  /// One of the places of a home's processes, which this one keeps until it has ended.
  ///
  /// Written before there is a second thread.
  nonisolated(unsafe) private static var place: FileLock?
  /// Maximum number of processes of one command for one home.
  static let mostPlaces = 4

  /// In a process that root has started for a home, opens it and assumes its owner's rights.
  static func assumeRights(_ arguments: [String]) {
    guard arguments.contains(homeOption),
      let command = try? Tidemark.parseAsRoot(Array(arguments.dropFirst())) as? any HomeCommand,
      let user = command.homeOf
    else { return }
    // Later this number may belong to a file of ours. Children, such as hooks, must not inherit it.
    isResultWanted =
      fcntl(resultDescriptor, F_GETFD) >= 0 && fcntl(resultDescriptor, F_SETFD, FD_CLOEXEC) == 0
    setup = Swift.Result { try open(command, of: user) }
    guard isResultWanted else { return }
    watch = Ticker(every: .seconds(1)) {
      if isAbandoned(resultDescriptor) { _exit(ExitStatus.tryLater.rawValue) }
    }
  }

  private static func open(_ command: any HomeCommand, of user: String) throws -> CommandContext {
    // What is read before the rights change is bounded, too: users decide how much there is.
    imposed = try type(of: command).budget.impose()
    if Account.current.isRoot, MachineWide.isConfigured, !user.contains("/") {
      let folder = MachineWide.home(of: .current).cachePath + "/processes"
      let name = type(of: command).configuration.commandName ?? ""
      place = try takePlace("\(name)-\(user)", in: folder)
    }
    return try command.openHome(of: user)
  }

  /// Keeps processes that cannot be ended, because they wait for a file system, from becoming more
  /// with each upload.
  ///
  /// - Returns: the place, for as long as it lives; nil if it cannot be recorded, as on a full disk.
  /// - Throws: ``Failure`` if all places are taken.
  static func takePlace(_ name: String, in folder: String) throws -> FileLock? {
    do {
      try Directory.makeOne(folder)
      for number in 0..<mostPlaces {
        if let lock = try FileLock.tryExclusive("\(folder)/\(name)-\(number)") { return lock }
      }
    } catch {
      return nil
    }
    throw Failure(
      .partial,
      "\(mostPlaces) processes that were started for it have not ended: unmount what is mounted there "
        + "and does not answer")
  }

  /// Whether nobody can read what is written to a pipe, because its reader has ended.
  static func isAbandoned(_ descriptor: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR | POLLHUP) != 0
  }

  /// Reports the result to root's process.
  static func report(_ result: some Encodable) {
    guard isResultWanted, let json = try? JSONEncoder().encode(result) else { return }
    try? FileHandle(fileDescriptor: resultDescriptor, closeOnDealloc: false).write(contentsOf: json)
  }
}
