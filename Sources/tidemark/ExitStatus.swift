import ArgumentParser
import Delta
import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// The exit codes that scripts rely on (sysexits), and the only mapping from errors to them.
enum ExitStatus: Int32, Error {
  case ok = 0
  case partial = 1
  case usage = 64
  case integrity = 65
  case unavailable = 69
  case tryLater = 75
  case authentication = 77
  case configuration = 78

  init(_ error: any Error) {
    self =
      switch error {
      case let status as ExitStatus: status
      case let failure as Failure: failure.status
      case let error as StoreError: ExitStatus(error.code)
      case let error as ReplicaError:
        error.code == .unsupportedFormat ? .configuration : .integrity
      case is SegmentError: .integrity
      case let error as ReadingError: ExitStatus(error.code)
      case let error as LookupError: error.code == .gone ? .partial : .usage
      case let error as SystemError: error.isDiskFull ? .tryLater : .configuration
      case is ForeignHome: .configuration
      case is CacheError, is CancellationError, is SpaceShortage: .tryLater
      default: .partial
      }
  }

  /// The status for several results: the one that all failures share, else partial.
  init(of statuses: [ExitStatus]) {
    let failures = statuses.filter { $0 != .ok }
    let first = failures.first ?? .ok
    self = failures.allSatisfy { $0 == first } ? first : .partial
  }

  private init(_ code: StoreError.Code) {
    self =
      switch code {
      case .authentication: .authentication
      case .configuration, .unsupported: .configuration
      case .transient, .overloaded, .unreachable, .full, .cancelled, .conflict: .tryLater
      case .integrity, .damaged: .integrity
      case .notFound, .tooLarge, .exhausted, .other: .partial
      }
  }

  private init(_ code: ReadingError.Code) {
    self =
      switch code {
      case .unfit: .usage
      case .withheld: .authentication
      case .changed: .tryLater
      case .damaged: .integrity
      case .noStore, .output: .configuration
      }
  }

  /// Ends the process: with the parser's own message and 64 for wrong usage, or one line for other
  /// errors.
  static func leave(with error: any Error, as command: any ParsableCommand.Type) -> Never {
    if let status = error as? ExitStatus { leave(status.rawValue) }
    if let code = error as? ExitCode { leave(code.rawValue) }
    let code = command.exitCode(for: error)
    if error is CleanExit || code == .success || code == .validationFailure {
      let text = command.fullMessage(for: error)
      if !text.isEmpty { Console.answer(text, isError: code != .success) }
      leave(code.rawValue)
    }
    Console.complain("\(error)")
    leave(ExitStatus(error).rawValue)
  }

  /// Ends the process; the only way out of it.
  ///
  /// Exit handlers do not run: worker threads may be closing connections at this moment, and
  /// OpenSSL's handler would free what they use. So finish all cleanup before this call; the kernel
  /// releases the rest, locks included.
  static func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}

/// An error of the command line itself, with its exit code.
struct Failure: Error, CustomStringConvertible {
  let status: ExitStatus
  let description: String

  init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}
