import CTerminal
import Foundation
import Platform
import TestServers
import TestSupport
import Testing

/// A terminal with a program on it, and a simulated user who reads and types.
final class Terminal {
  private let controller: Int32
  private let reports: Int32
  /// The output so far.
  private(set) var text = ""
  /// How much of it has been waited for.
  private var seen = 0

  /// Starts a program.
  init(_ command: [String], environment: [String: String]) throws {
    var (controller, programEnd): (Int32, Int32) = (-1, -1)
    try #require(cterminal_open(&controller, &programEnd, -1) == 0)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let monitor = ChildProcess(command, environment: environment).withCStrings {
      cterminal_start(programEnd, $0, $1, ends[1])
    }
    try #require(monitor > 0)
    close(ends[1])
    close(programEnd)
    self.controller = controller
    reports = ends[0]
    var started = cterminal_message()
    try #require(withUnsafeMutableBytes(of: &started) { read(ends[0], $0.baseAddress, 8) } == 8)
    try #require(started.kind == CTERMINAL_STARTED)
  }

  /// Hangs up.
  deinit {
    close(controller)
    close(reports)
  }

  /// Types keys.
  func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = write(controller, bytes, bytes.count)
  }

  /// Waits until new output contains a text; records an issue when the program ends before that, or
  /// stops printing.
  func waits(for wanted: String, _ location: SourceLocation = #_sourceLocation) {
    while true {
      let fresh = text.dropFirst(seen)
      if let found = fresh.range(of: wanted) {
        seen = text.distance(from: text.startIndex, to: found.upperBound)
        return
      }
      guard takeMore() else {
        Issue.record(
          "no \(wanted.debugDescription) in \(text.debugDescription)", sourceLocation: location)
        return
      }
    }
  }

  private func takeMore() -> Bool {
    var wanted = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    var bytes = [UInt8](repeating: 0, count: 4096)
    guard poll(&wanted, 1, Patience.milliseconds) == 1 else { return false }
    let count = read(controller, &bytes, bytes.count)
    if count > 0 { text += String(decoding: bytes[..<count], as: UTF8.self) }
    return count > 0
  }

  /// Waits for the end of the program: its exit status, or 128 and the signal that killed it.
  func status() throws -> Int32 {
    while takeMore() {}
    while true {
      var wanted = pollfd(fd: reports, events: Int16(POLLIN), revents: 0)
      try #require(
        poll(&wanted, 1, Patience.milliseconds) == 1, "it continues after \(text.debugDescription)")
      var message = cterminal_message()
      try #require(withUnsafeMutableBytes(of: &message) { read(reports, $0.baseAddress, 8) } == 8)
      let status = message.value
      if status == 0xffff || status & 0xff == 0x7f { continue }
      return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }
  }
}
