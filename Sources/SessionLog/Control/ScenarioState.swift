import LogRecords
public import Platform

/// Whether a scenario is on, and who switched it.
public struct ScenarioState: Sendable, Equatable, Codable {
  /// Whether it was switched on; see ``isOn(at:)``.
  public var isEnabled: Bool
  /// When it was first declared.
  public var created: Timestamp
  /// Number of changes, from 1.
  public var revision: Int
  /// Who changed it last; nil if it was never changed.
  public var modifiedBy: String?
  /// When it switches off by itself; nil for never.
  public var until: Timestamp?

  /// The state of a new scenario: off.
  public init(created: Timestamp) {
    isEnabled = false
    self.created = created
    revision = 1
  }

  /// Whether its records are written at a given time.
  public func isOn(at time: Timestamp) -> Bool {
    isEnabled && until.map { time < $0 } ?? true
  }

  /// Switches it.
  ///
  /// - Parameters:
  ///   - isEnabled: on or off.
  ///   - until: when it switches off by itself.
  ///   - who: who switches it.
  /// - Returns: whether anything has changed.
  public mutating func set(_ isEnabled: Bool, until: Timestamp?, by who: String) -> Bool {
    let until = isEnabled ? until : nil
    guard self.isEnabled != isEnabled || self.until != until else { return false }
    (self.isEnabled, self.until, modifiedBy) = (isEnabled, until, who)
    revision += revision < .max ? 1 : 0
    return true
  }

  /// `on`, `on by anna (until 2026-01-22T14:30:05.123Z)`, `off`, as written in the session's
  /// records.
  public func text(at time: Timestamp) -> String {
    let by = modifiedBy.map { " by \(String(printable: $0.utf8))" } ?? ""
    guard isOn(at: time) else { return "off" + (isEnabled ? " by expiry" : by) }
    return "on" + by + (until.map { " (until \($0))" } ?? "")
  }
}
