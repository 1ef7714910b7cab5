import ArgumentParser
import Foundation
import Platform
import SessionLog
import Sync

/// Root's uploads of other users' homes: a process each, with the user's rights and a budget.
///
/// What lies in a home is its user's to write. Whatever that makes of the code that reads it, whether
/// it ends, goes on for ever or takes all memory, is the affair of one process, which can do no more than
/// the user could. Two homes at a time are served, in an order that nobody can choose.
struct HomeUploads {
  /// What a process may use.
  ///
  /// A home that needs more goes on with the next upload.
  static let budget = ProcessBudget(time: .seconds(600), memory: 2 << 30)
  /// Bytes of objects that a process may send.
  static let byteLimit: ByteCount = 8 << 30

  /// The home that root has started this process for; nil in any other.
  ///
  /// Written before there is a second thread.
  nonisolated(unsafe) private(set) static var place: Swift.Result<Workplace, any Error>?

  /// In a process that root has started for a home, opens it and takes on its owner's rights.
  static func takeRights(_ arguments: [String]) {
    guard arguments.contains(homeOption),
      let upload = try? Tidemark.parseAsRoot(Array(arguments.dropFirst())) as? Upload,
      let user = upload.homeOf
    else { return }
    // Later it may be a file of ours that has this number.
    isResultWanted = fcntl(resultDescriptor, F_GETFD) >= 0
    place = Swift.Result { try upload.placeOfHome(of: user) }
  }

  nonisolated(unsafe) private static var isResultWanted = false

  private static let homeOption = "--home-of"

  /// What the processes ended with.
  private(set) var statuses: Set<ExitStatus> = []
  /// Whether the other homes are to be left to the next upload: the store is down, or all requests are
  /// spent.
  private(set) var isStopped = false
  private let arguments: [String]
  private let isAlone: Bool

  /// - Parameters:
  ///   - upload: the command that the processes are to carry out.
  ///   - prunes: whether rotated parts are looked at.
  init(_ upload: Upload, prunes: Bool) {
    var arguments = ["upload"]
    func add(_ name: String, _ value: String?) { if let value { arguments += [name, value] } }
    add("--transfers", upload.transfers.map(String.init))
    add("--limit-rate", upload.limitRate?.description)
    add("--max-requests", upload.maxRequests.map(String.init))
    add("--wait", upload.wait.map { "\($0.seconds)s" })
    let flags = [
      ("--allow-plaintext", upload.allowPlaintext), ("--dry-run", upload.dryRun),
      ("--now", upload.now), ("--json", upload.json), ("--without-pruning", !prunes),
      ("--watched", Console.errorIsTerminal || upload.watched),
    ]
    arguments += flags.filter(\.1).map(\.0)
    arguments += Array(repeating: "-v", count: upload.diagnostics.verbose)
    self.arguments = arguments
    isAlone = upload.limitRate != nil || upload.maxRequests != nil
  }

  /// Adds what a pass in this process came to.
  mutating func note(_ status: ExitStatus) { statuses.insert(status) }

  /// Uploads from homes.
  ///
  /// - Parameters:
  ///   - homes: other users'.
  ///   - open: gets the sessions that are open there.
  /// - Throws: ``Platform/SystemError`` where no process can be started.
  mutating func run(_ homes: [Home], _ open: inout OpenSessions) throws {
    let homes = try homes.filter { try !$0.isUnused() }
      .map { (key: Machine.current.random(), home: $0) }.sorted { $0.key < $1.key }.map(\.home)
    try SupervisedProcess.run(homes.count, atOnce: isAlone ? 1 : 2) { number in
      try start(homes[number])
    } ended: { number, process in
      take(process, of: homes[number], &open)
      return !isStopped
    }
  }

  /// The descriptor that the result is written to.
  private static let resultDescriptor: Int32 = 3
  /// Bytes that are taken of a process's result and of what it prints.
  private static let (resultLimit, outputLimit, errorLimit) = (4 << 20, 4 << 20, 1 << 20)

  private func start(_ home: Home) throws -> SupervisedProcess? {
    guard let user = home.owner?.name else { return nil }
    var child = ChildProcess(
      [Console.ownPath] + arguments + [Self.homeOption, user],
      environment: ProcessInfo.processInfo.environment)
    child.defaultSignals = [SIGALRM, SIGPIPE, SIGXCPU]
    return try SupervisedProcess(
      child,
      reading: [
        .init(Self.resultDescriptor, limit: Self.resultLimit),
        .init(STDOUT_FILENO, limit: Self.outputLimit),
        .init(STDERR_FILENO, limit: Self.errorLimit),
      ], for: Self.budget.time, on: .current)
  }

  private mutating func take(
    _ process: SupervisedProcess, of home: Home, _ open: inout OpenSessions
  ) {
    let (result, output, errors) = (process.outputs[0], process.outputs[1], process.outputs[2])
    if !output.bytes.isEmpty { Console.write(output.bytes) }
    if !errors.bytes.isEmpty { Console.writeError(String(decoding: errors.bytes, as: UTF8.self)) }
    if output.isCut || errors.isCut {
      Console.complain("\(home.path): there was more to say than is shown")
    }
    let known = try? JSONDecoder().decode(Result.self, from: Data(result.bytes))
    if let sessions = known?.open { open.add(sessions) } else { open.addUnknown(home) }
    isStopped = isStopped || known?.isStoreDown == true || known?.isSpent == true
    switch process.end {
    case .exited(let code): statuses.insert(ExitStatus(rawValue: code) ?? .partial)
    case .overdue, .killed(SIGALRM), .killed(SIGXCPU):
      let time = Age.text(Self.budget.time)
      Console.complain("\(home.path): the upload was stopped after \(time); the next one goes on")
      statuses.insert(.tryLater)
    case .killed(let signal):
      Console.complain(
        "\(home.path): the upload was ended by signal \(signal); the other homes are not concerned, and "
          + "the next upload tries again")
      statuses.insert(.partial)
    case nil: break
    }
  }

  /// What a process tells the one that started it, beside what it prints.
  struct Result: Codable {
    /// The sessions that are not sealed; nil where that could not be found out.
    var open: [SessionID]?
    /// Whether the store failed for all sessions.
    var isStoreDown = false
    /// Whether all requests, or bytes, that may be sent have been.
    var isSpent = false

    /// Writes it to the one that started this process.
    func report() {
      guard HomeUploads.isResultWanted, let json = try? JSONEncoder().encode(self) else { return }
      try? FileHandle(fileDescriptor: HomeUploads.resultDescriptor, closeOnDealloc: false)
        .write(contentsOf: json)
    }
  }
}

extension Home {
  /// Whether there is nothing that an upload could look at, as far as its owner can see.
  fileprivate func isUnused() throws -> Bool {
    try owner?.assumeRights()
    let isUnused = [sessionsPath, openPath, path + "/trash"].allSatisfy(Directory.isEmpty)
    try Account.resumeOwnRights()
    return isUnused
  }
}
