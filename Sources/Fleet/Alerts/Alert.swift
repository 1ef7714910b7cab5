package import Platform

/// The matches of a rule for one session, device or kind of crash, and how many of them were
/// reported; all times are the server's.
package struct Alert: Sendable, Codable, Equatable {
  /// The phases of an alert.
  package enum Phase: String, Sendable, Codable {
    /// The condition holds, but not for long enough yet.
    case pending
    /// It holds.
    case firing
    /// A reported crash: later ones of its kind are counted with it.
    case told
  }

  /// The rule's name.
  package let rule: String
  /// The key that distinguishes it from the rule's other alerts.
  package let key: String
  /// The phase.
  package var phase = Phase.pending
  /// The pass that saw the first match.
  package let begunAt: ServerTime
  /// The first match.
  package var since: ServerTime
  /// The newest match.
  package var last: ServerTime
  /// The pass that saw the newest match.
  package var seenAt: ServerTime
  /// Matches since it began.
  package var count = 0
  /// How many of these were reported or muted.
  package var toldCount = 0
  /// When it was last reported or muted.
  package var toldAt: ServerTime?
  /// Number of messages about it.
  package var messages = 0
  /// The newest match.
  package var sample: AlertSample
  /// Ids of the devices that it has matched on, up to ``mostDevices``.
  package var devices: [String] = []
  /// The program's version at the first match.
  package private(set) var firstVersion: String?

  /// Maximum number of devices counted.
  private static let mostDevices = 1000

  init(rule: String, key: String, _ match: AlertMatch, at now: ServerTime) {
    (self.rule, self.key, sample) = (rule, key, match.sample)
    (since, last, begunAt, seenAt) = (match.first, match.last, now, now)
    firstVersion = match.sample.subject.version
  }

  /// Adds a match.
  mutating func add(_ match: AlertMatch, at now: ServerTime) {
    let (sum, isTooMuch) = count.addingReportingOverflow(match.count)
    count = isTooMuch ? .max : sum
    if match.first < since {
      since = match.first
      firstVersion = match.sample.subject.version
    }
    if match.last >= last || sample.isReduced { sample = match.sample }
    last = max(last, match.last)
    seenAt = now
    let device = match.sample.subject.device
    if !devices.contains(device), devices.count < Self.mostDevices { devices.append(device) }
  }

  /// Marks all matches as reported or muted.
  mutating func markTold(at now: ServerTime, isQuiet: Bool) {
    toldCount = count
    toldAt = now
    if !isQuiet { messages += 1 }
  }

  /// Forgets the lines of a crash that was reported, which no later message contains.
  mutating func reduce() { sample.reduce() }
}

/// One match, as shown in a message.
package struct AlertSample: Sendable, Codable, Equatable {
  /// The subject.
  package let subject: AlertSubject
  /// How the session ended; only for crashes.
  package var cause: String?
  /// The signature of this kind of crash.
  package var signature: CrashSignature?
  /// The highest level of the records that matched.
  package var level: String?
  /// Lines that matched, or a crash's significant ones; sanitized and truncated.
  package var lines: [String] = []
  /// The text of the most significant line; only for crashes.
  package var headline: String?
  /// Stream offset of the first of ``lines``.
  package var offset: Int64?

  /// Whether its lines were forgotten; nil otherwise.
  private var hasForgottenLines: Bool?
  /// Whether its lines were forgotten.
  var isReduced: Bool { hasForgottenLines == true }

  init(_ subject: AlertSubject) { self.subject = subject }

  fileprivate mutating func reduce() {
    (lines, headline, hasForgottenLines) = ([], nil, true)
  }
}

/// The matches of one pass for one alert.
struct AlertMatch: Sendable {
  let key: String
  var count: Int
  let first: ServerTime
  let last: ServerTime
  let sample: AlertSample
}
