import CLastRecord
import LogRecords
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Shows records on the console.
final class ConsoleOutput: Sendable {
  /// Records below it are not shown.
  let level: Level
  private let descriptor: Guarded<Int32>
  private let hasColours: Bool

  init(from level: Level, environment: [String: String]) {
    self.level = level
    descriptor = Guarded(STDERR_FILENO)
    hasColours =
      isatty(STDERR_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
      && environment["TERM"] != "dumb"
  }

  /// Shows records on another descriptor from now on, because standard error is captured.
  func use(_ number: Int32) { descriptor.withLock { $0 = number } }

  /// Shows a record; a closed console does not stop the program.
  func show(_ record: [UInt8], _ level: Level) {
    let number = descriptor.withLock { $0 }
    guard hasColours, let colour = Self.colour(of: level) else { return Self.write(record, number) }
    Self.write(Array("\u{1b}[\(colour)m".utf8) + record.dropLast() + "\u{1b}[0m\n".utf8, number)
  }

  private static func colour(of level: Level) -> Int? {
    switch level {
    case .trace, .debug: 2
    case .info: nil
    case .success: 32
    case .warning: 33
    case .error, .fault: 31
    }
  }

  /// Writes bytes until all are written or an error occurs.
  static func write(_ bytes: [UInt8], _ number: Int32) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = clastrecord_write(number, rest.baseAddress, rest.count)
        if count == -Int(EINTR) { continue }
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }
}
