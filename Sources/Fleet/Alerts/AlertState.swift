import Foundation
package import Platform

/// The state of alerts between passes: one file, always replaced as a whole.
package struct AlertState: Sendable, Codable, Equatable {
  /// The version of the file.
  private var format = 1
  /// How far each store was read, by its location.
  package var cursors: [String: AlertCursors] = [:]
  /// The alerts.
  package var ledger = AlertLedger()
  /// Undelivered messages, oldest first.
  package var outbox: [OutgoingAlert] = []
  /// Targets that failed, by name.
  package var failing: [String: FailingTarget] = [:]

  /// An empty state.
  package init() {}

  /// Whether a device has this id, or name as far as names are known.
  package func knows(device: String) -> Bool {
    cursors.values.contains { cursors in
      cursors.devices[device] != nil || cursors.devices.values.contains { $0.name == device }
    } || ledger.alerts.values.contains { $0.sample.subject.deviceName == device }
  }

  /// Reads the file; nil if there is none.
  ///
  /// A damaged file, or one that is too long, is set aside, and the state is empty.
  ///
  /// - Parameter report: called with a line for a person if the file is damaged.
  /// - Throws: ``Platform/SystemError``.
  package static func load(_ path: String, report: (String) -> Void) throws -> AlertState {
    do {
      let json = try AtomicFile.read(path)
      let state = try JSONDecoder().decode(AlertState.self, from: Data(json))
      if state.format == 1 { return state }
    } catch let error as SystemError where error.isNotFound {
      return AlertState()
    } catch let error as SystemError where error.errno == SystemError.Number.overflow {
      // Too long to be read: set aside below.
    } catch is DecodingError {
      // Set aside below.
    }
    try File.rename(path, to: path + ".damaged")
    report(
      "\(path) is damaged and was renamed to \(path).damaged: alerts start over, without news of "
        + "what is older than an hour; silences are lost")
    return AlertState()
  }

  /// Replaces the file, durably.
  ///
  /// - Throws: ``Platform/SystemError``; `EncodingError`.
  package func save(_ path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try AtomicFile.write(Array(try encoder.encode(self)) + [0x0a], to: path)
  }
}

/// A target that failed, with its consecutive failed attempts.
package struct FailingTarget: Sendable, Codable, Equatable {
  /// Number of failed attempts.
  package var attempts = 0
  /// The error of the last attempt.
  package var error = ""
  /// When to try again.
  package var next: Timestamp
  /// When the failure was reported.
  package var toldAt: Timestamp?

  init(next: Timestamp) { self.next = next }

  /// Pauses between attempts: 1, 2, 4, 8 and 15 minutes.
  private static let pauses: [Int64] = [1, 2, 4, 8, 15]
  /// Tolerance for cron's delays.
  private static let slack = Duration.seconds(10)

  /// Records another failed attempt.
  mutating func record(_ error: String, at now: Timestamp) {
    attempts += 1
    self.error = error
    let minutes = Self.pauses[min(attempts, Self.pauses.count) - 1]
    next = now + .seconds(minutes * 60) - Self.slack
  }

  /// Whether it is skipped; setting the clock back does not lengthen the pause.
  func isPaused(at now: Timestamp) -> Bool { next > now && next - now <= .seconds(15 * 60) }
}
