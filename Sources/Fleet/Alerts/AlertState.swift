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

  /// Maximum length of the file in bytes.
  package static let longest = 40 << 20

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
      let json = try AtomicFile.read(path, atMost: longest)
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
  /// - Throws: ``Platform/SystemError``, also if it would be too long to be read; `EncodingError`.
  package func save(_ path: String) throws {
    let json = try Self.json(self) + [0x0a]
    guard json.count <= Self.longest else {
      throw SystemError(operation: "write", path: path, errno: SystemError.Number.tooLarge)
    }
    try AtomicFile.write(json, to: path)
  }

  private static func json(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }
}

extension AlertState {
  /// Lengths in bytes of what the file may contain.
  package struct Room: Sendable {
    /// Below this length nothing is given up.
    package var whole = 8 << 20
    /// The alerts.
    package var alerts = 4 << 20
    /// The counts of rates.
    package var rates = 2 << 20
    /// The undelivered messages.
    package var outbox = 2 << 20

    /// The usual lengths.
    package init() {}
  }

  /// Gives up what does not fit into the file, of the devices that have the most.
  ///
  /// Sessions have limits of their own: ``SessionRoom``.
  ///
  /// - Parameters:
  ///   - room: the lengths.
  ///   - location: the store whose cursors are in use.
  /// - Returns: what was given up before anybody was told, one line each for a person.
  package mutating func fit(_ room: Room, reading location: String) throws -> [String] {
    guard try Self.json(self).count > room.whole else { return [] }
    // What other stores had is read again if they are used again.
    cursors = cursors.filter { $0.key == location }
    func length(_ value: some Encodable) -> Int { (try? Self.json(value).count) ?? 0 }
    let alerts = ledger.limitAlerts(to: room.alerts) { length($0) }
    let rates = ledger.limitRates(to: room.rates) { length($0) }
    let messages = limitOutbox(to: room.outbox) { length($0) }
    return Self.lines(alerts, "alerts") + Self.lines(rates, "counts of rates")
      + Self.lines(messages, "messages")
  }

  /// Lines about what was given up before anybody was told.
  ///
  /// - Parameters:
  ///   - lost: numbers by devices.
  ///   - kind: what they are, in the plural.
  static func lines(_ lost: [String: Int], _ kind: String) -> [String] {
    lost.sorted { $0.key < $1.key }.map { device, count in
      "\(device): \(count) \(kind) are left out, as there are more of them than alerts can remember"
    }
  }

  /// Gives up undelivered messages that have no room, of each device the oldest first.
  ///
  /// - Returns: their number, by the device's name.
  private mutating func limitOutbox(
    to limit: Int, size: (OutgoingAlert) -> Int
  ) -> [String: Int] {
    let excess = Set(
      FairShare.excess(
        outbox.enumerated().map { index, message in
          (key: index, holder: message.notification.device.id, size: size(message))
        }, within: limit))
    var lost: [String: Int] = [:]
    for index in excess { lost[outbox[index].notification.device.name, default: 0] += 1 }
    outbox = outbox.enumerated().filter { !excess.contains($0.offset) }.map(\.element)
    return lost
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
