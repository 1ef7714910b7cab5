import ArgumentParser
import Foundation
import Platform

/// Runs a program as a user, when root notifies a session's owner.
struct RunAs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run-as", abstract: "Run a program as a user.", shouldDisplay: false)

  @Argument var user: String
  @Argument(parsing: .captureForPassthrough) var command: [String]

  func run() throws {
    guard let account = Account(named: user) else {
      throw Failure(.usage, "there is no user '\(user)'")
    }
    let program = command.first == "--" ? Array(command.dropFirst()) : command
    guard let path = program.first else { throw Failure(.usage, "there is no program") }
    try account.dropRights()
    _ = chdir(account.home ?? "/")
    let error = ChildProcess(program, environment: ProcessInfo.processInfo.environment).replaceOwn()
    throw Failure(.unavailable, "cannot run \(path): \(String(cString: strerror(error)))")
  }
}
