package import Platform

/// What a rule has found of one session, device, kind of crash, and so on, and how much of that was
/// told.
package struct Alert: Sendable, Codable, Equatable {
  /// How far it has come.
  package enum Phase: String, Sendable, Codable {
    /// The condition holds, but not for long enough yet.
    case pending
    /// It holds.
    case firing
    /// A crash that was told: a later one of its kind is counted with it.
    case told
  }

  /// The rule's name.
  package let rule: String
  /// What separates it from the rule's other alerts.
  package let key: String
  /// How far it has come.
  package var phase = Phase.pending
  /// The pass that saw the first match.
  package let begunAt: Timestamp
  /// The first match.
  package var since: Timestamp
  /// The newest match.
  package var last: Timestamp
  /// The pass that saw the newest match.
  package var seenAt: Timestamp
  /// Matches since it began.
  package var count = 0
  /// How many of these were told, or were not to be told because of a silence.
  package var toldCount = 0
  /// When it was told last, or not told because of a silence.
  package var toldAt: Timestamp?
  /// How often it was told.
  package var messages = 0
  /// What the newest match was.
  package var sample: AlertSample
  /// Ids of devices that it has matched on, as far as they are counted.
  package var devices: [String] = []
  /// The program's version at the first match.
  package private(set) var firstVersion: String?

  /// More devices than these are not told apart.
  private static let mostDevices = 1000

  init(rule: String, key: String, _ match: AlertMatch, at now: Timestamp) {
    (self.rule, self.key, sample) = (rule, key, match.sample)
    (since, last, begunAt, seenAt) = (match.first, match.last, now, now)
    firstVersion = match.sample.subject.version
  }

  /// Takes in a match.
  mutating func add(_ match: AlertMatch, at now: Timestamp) {
    let (sum, isTooMuch) = count.addingReportingOverflow(match.count)
    count = isTooMuch ? .max : sum
    if match.first < since {
      since = match.first
      firstVersion = match.sample.subject.version
    }
    if match.last >= last { sample = match.sample }
    last = max(last, match.last)
    seenAt = now
    let device = match.sample.subject.device
    if !devices.contains(device), devices.count < Self.mostDevices { devices.append(device) }
  }

  /// Takes note that what there is was told, or is not to be told.
  mutating func markTold(at now: Timestamp, isQuiet: Bool) {
    toldCount = count
    toldAt = now
    if !isQuiet { messages += 1 }
  }
}

/// One match, as a message shows it.
package struct AlertSample: Sendable, Codable, Equatable {
  /// Whom or what it is about.
  package let subject: AlertSubject
  /// How the session ended; only of crashes.
  package var cause: String?
  /// What tells this kind of crash from others.
  package var signature: CrashSignature?
  /// The highest level of the records that matched.
  package var level: String?
  /// Lines that matched, or of a crash those that count; harmless and cut.
  package var lines: [String] = []
  /// What the line that says most says; only of crashes.
  package var headline: String?
  /// Stream offset of the first of them.
  package var offset: Int64?

  init(_ subject: AlertSubject) { self.subject = subject }
}

/// What a rule has matched in one pass for one alert.
struct AlertMatch: Sendable {
  let key: String
  var count: Int
  let first: Timestamp
  let last: Timestamp
  let sample: AlertSample
}
