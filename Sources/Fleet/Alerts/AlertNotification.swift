package import Platform

/// One message about an alert, or about several of one rule.
package struct AlertNotification: Sendable, Codable, Equatable {
  /// The alert's new state.
  package enum State: String, Sendable, Codable {
    case firing, resolved
  }

  /// The device it is about.
  package struct Device: Sendable, Codable, Equatable {
    package let id: String
    package let name: String
  }

  /// A device, and how many alerts or messages of it there are.
  package struct Share: Sendable, Codable, Equatable {
    package let device: Device
    package let count: Int
  }

  /// An alert reported together with another.
  package struct Other: Sendable, Codable, Equatable {
    package let fingerprint: String
    package let device: Device
    package let session: String?
    package let app: String?
    package let count: Int
  }

  /// A unique id, the same for each delivery attempt.
  package let id: String
  /// The rule's name.
  package let alert: String
  package let state: State
  /// An id shared by all messages about this alert.
  package let fingerprint: String
  /// Time of the first match; a reader takes it as a time by their own clock.
  package let since: Timestamp
  /// Time of the newest match.
  package let last: Timestamp
  /// Matches since the alert began.
  package let count: Int
  /// Matches that no message before this one counted.
  package let new: Int
  /// Number of devices it matched on.
  package let devices: Int
  /// Version of the program at the first match.
  package let firstVersion: String?
  package let device: Device
  package let user: String?
  package let app: String?
  package let version: String?
  package let session: String?
  package let cause: String?
  package let signature: String?
  package let level: String?
  /// At most five lines, redacted as they are stored, each of at most 1024 characters.
  package let lines: [String]
  /// The text of the most significant of these; only for crashes.
  package let headline: String?
  package let offset: Int64?
  /// A command that shows more.
  package let command: String?
  /// Why a silence ended although the device is still silent.
  package let reason: String?
  /// Other alerts of the rule reported with this one, at most ten.
  package var others: [Other] = []
  /// Their total number.
  package var otherCount = 0
  /// Their devices, at most 50; nil without any.
  package var otherDevices: [Share]?
  /// Number of further messages of the pass for this target, which are omitted.
  package var omitted = 0
  /// The devices of omitted messages, at most 50, those without a message first; nil for none.
  package var omittedDevices: [Share]?
  /// The message in one line.
  package var text = ""

  static let mostOthers = 10
  private static let mostShares = 50

  init(
    _ alert: Alert, _ state: State, fingerprint: String, new: Int, reason: String? = nil,
    at now: ServerTime
  ) {
    let subject = alert.sample.subject
    id = AlertFingerprint.make([
      fingerprint, state.rawValue, "\(alert.since.milliseconds)", "\(alert.messages)",
      "\(now.milliseconds)",
    ])
    (self.alert, self.state, self.fingerprint) = (alert.rule, state, fingerprint)
    // For display: a difference between the clocks shows as a slightly different time.
    since = alert.since.assumingSynchronizedClocks
    last = alert.last.assumingSynchronizedClocks
    (count, self.new) = (alert.count, new)
    devices = alert.devices.count
    firstVersion = alert.firstVersion
    device = Device(id: subject.device, name: subject.deviceName)
    (user, app, version, session) = (subject.user, subject.app, subject.version, subject.session)
    (cause, signature) = (alert.sample.cause, alert.sample.signature?.id)
    (level, lines, offset) = (alert.sample.level, alert.sample.lines, alert.sample.offset)
    headline = alert.sample.headline
    command = subject.session.map { "tidemark show \($0)" }
    self.reason = reason
    text = AlertText.line(self)
  }

  /// Adds alerts of the same rule.
  mutating func add(_ others: [(fingerprint: String, alert: Alert)]) {
    otherCount = others.count
    otherDevices = Self.shares(
      others.map { _, alert in
        let subject = alert.sample.subject
        return Share(device: Device(id: subject.device, name: subject.deviceName), count: 1)
      })
    self.others = others.prefix(Self.mostOthers).map { fingerprint, alert in
      let subject = alert.sample.subject
      return Other(
        fingerprint: fingerprint, device: Device(id: subject.device, name: subject.deviceName),
        session: subject.session, app: subject.app, count: alert.count)
    }
    text = AlertText.line(self)
  }

  /// Mentions omitted messages.
  ///
  /// - Parameters:
  ///   - omitted: the messages.
  ///   - told: ids of devices of which a message is sent.
  mutating func add(omitted messages: [AlertNotification], besides told: Set<String>) {
    omitted = messages.count
    let shares = messages.flatMap { [Share(device: $0.device, count: 1)] + ($0.otherDevices ?? []) }
    let isShown = { (share: Share) in told.contains(share.device.id) }
    omittedDevices = Self.shares(shares.filter { !isShown($0) } + shares.filter(isShown))
    text = AlertText.line(self)
  }

  /// One entry for each device, in the order of their first entries.
  private static func shares(_ shares: [Share]) -> [Share] {
    var counts: [String: Int] = [:]
    for share in shares { counts[share.device.id, default: 0] += share.count }
    var found: [Share] = []
    for share in shares where found.count < mostShares {
      guard let count = counts.removeValue(forKey: share.device.id) else { continue }
      found.append(Share(device: share.device, count: count))
    }
    return found
  }

  /// What takes turns when messages of a pass are chosen: its device, or its rule if it reports several
  /// alerts.
  var turn: String { otherCount > 0 ? "rule \(alert)" : device.id }
}

/// A message on its way to one target.
package struct OutgoingAlert: Sendable, Codable, Equatable {
  /// The target's name; empty for standard output.
  package let target: String
  package private(set) var notification: AlertNotification
  /// When it was decided, by the clock of this machine.
  package let decidedAt: Timestamp

  mutating func add(omitted messages: [AlertNotification], besides told: Set<String>) {
    notification.add(omitted: messages, besides: told)
  }
}
