package import LogRecords
import Platform

/// A rule of `alerts.yaml`.
package struct AlertRule: Sendable, Equatable {
  /// The condition that makes it fire.
  package enum Condition: Sendable, Equatable {
    /// A session crashed.
    ///
    /// - Parameter includesFailures: whether a nonzero exit status counts too.
    case crash(includesFailures: Bool)
    /// A record was written.
    case records(RecordCondition)
    /// More than a number of records were written within a time.
    case rate(RecordCondition, moreThan: Int, within: Duration)
    /// Nothing new arrived for longer than this, by the server's clock.
    case silence(Duration)
  }

  /// The scope of one alert of the rule.
  package enum Scope: String, Sendable, CaseIterable {
    case session, device, app, user
    /// Everything that the rule matches is one alert.
    case rule
    /// Crashes with one application, cause and signature are one alert.
    case signature
  }

  /// Lower-case letters, digits and hyphens; unique.
  package let name: String
  /// The condition that makes it fire.
  package let condition: Condition
  /// The sessions, devices and records that it applies to.
  package var filter = AlertFilter()
  /// The hours in which it sends messages; nil for all.
  package var hours: AlertHours?
  /// How long it must hold before it fires.
  package var delay = Duration.zero
  /// How long after the last match it ends.
  package var keep = Duration.seconds(300)
  /// How often it is repeated while it holds.
  package var repeatsEvery = Duration.hours(4)
  /// The shortest time between two messages of the rule; alerts in between share a message.
  ///
  /// Each kind of crash has a message of its own, at once.
  package var group = Duration.seconds(60)
  /// The scope of one alert.
  package var scope: Scope
  /// Names of its targets; empty for standard output.
  package var targets: [String] = []
  /// A device silent for longer than this is given up and no longer reported; nil for never.
  package var givesUpAfter: Duration?
  /// Whether its end is reported as well.
  package var reportsEnd = true

  /// Makes a rule with the defaults.
  package init(name: String, _ condition: Condition) {
    (self.name, self.condition) = (name, condition)
    scope =
      switch condition {
      case .crash: .signature
      case .silence: .device
      case .records, .rate: .session
      }
  }

  /// Whether a text can be a rule's name.
  package static func isName(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
      }
  }

  /// The records it counts; nil for a rule that reads none.
  package var records: RecordCondition? {
    switch condition {
    case .records(let records), .rate(let records, _, _): records
    case .crash, .silence: nil
    }
  }

  /// The key that distinguishes an alert of this rule from its others.
  ///
  /// - Parameter signature: a crash's.
  package func key(of subject: AlertSubject, signature: String = "") -> String {
    switch scope {
    case .session: "\(subject.device)/\(subject.session ?? "")"
    case .device: subject.device
    case .app: subject.app ?? ""
    case .user: subject.user ?? ""
    case .rule: ""
    case .signature: signature
    }
  }
}

/// Which records a rule counts: those of some levels, with a pattern in one of their lines, or
/// both.
package struct RecordCondition: Sendable, Equatable {
  /// The levels; nil for all.
  package var levels: LevelSet?
  /// A POSIX extended expression over the bytes of a line; nil for any.
  package var pattern: String?
  /// Whether to ignore the case of ASCII letters.
  package var ignoresCase = false

  /// Makes a condition.
  package init(levels: LevelSet? = nil, pattern: String? = nil, ignoresCase: Bool = false) {
    (self.levels, self.pattern, self.ignoresCase) = (levels, pattern, ignoresCase)
  }
}

/// The sessions, devices and records that a rule applies to; an empty list admits all.
package struct AlertFilter: Sendable, Equatable {
  /// Names of programs.
  package var apps: [NamePattern] = []
  /// Names of users.
  package var users: [NamePattern] = []
  /// Names or ids of devices.
  package var devices: [NamePattern] = []
  /// Categories of records.
  package var categories: [NamePattern] = []
  /// Scenarios of records.
  package var scenarios: [NamePattern] = []

  /// Admits all.
  package init() {}

  /// Whether a device is admitted, by its id or name.
  package func admits(device: String, named name: String?) -> Bool {
    devices.isEmpty || devices.contains { $0.matches(device) || name.map($0.matches) ?? false }
  }

  /// Whether a subject is admitted.
  package func admits(_ subject: AlertSubject) -> Bool {
    admits(device: subject.device, named: subject.deviceName)
      && Self.admit(apps, subject.app) && Self.admit(users, subject.user)
  }

  /// Whether deciding needs the program or the user.
  package var needsSidecar: Bool { !apps.isEmpty || !users.isEmpty }

  static func admit(_ patterns: [NamePattern], _ name: String?) -> Bool {
    patterns.isEmpty || name.map { name in patterns.contains { $0.matches(name) } } ?? false
  }
}
