import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport

@testable import TidemarkLogging

/// A home, and sessions of this process in it.
struct LoggingHome {
  let home: TestHome

  init() throws { home = try TestHome() }

  /// A session without a console, signals or a ticker.
  func session(
    level: Level = .trace, console: ConsoleOutput? = nil, rotateAt: ByteCount = 0,
    writing: (@Sendable (Int32, UnsafeRawBufferPointer) -> Int)? = nil
  ) throws -> LogSession {
    var options = RecordingOptions()
    options.rotateAt = rotateAt
    options.leavesDiskToTick = true
    let writer = try SessionWriter(
      home: home.home, device: home.device, appName: "test", options: options,
      machine: home.clock.machine, writing: writing)
    return LogSession(
      writer: writer, problem: nil, capture: nil, console: console, recordLevel: level,
      machine: home.clock.machine)
  }

  /// The log of a session.
  func text(_ session: LogSession) throws -> String {
    try session.id.map { String(decoding: try home.log($0), as: UTF8.self) } ?? ""
  }
}
