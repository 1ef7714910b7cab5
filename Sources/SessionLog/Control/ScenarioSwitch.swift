public import Platform

/// Whether scenarios are on, according to the home's ``ControlFile``.
///
/// The file is checked at most once a second. If it is missing or unreadable, all are off.
public final class ScenarioSwitch: Sendable {
  private let home: Home
  private let now: @Sendable () -> Timestamp
  private let known: Guarded<Known>

  private struct Known {
    var checkedAt: Timestamp?
    var file: FileStatus?
    var states: [ScenarioName: ScenarioState] = [:]
  }

  private static let period = Duration.seconds(1)

  /// The switch of a home.
  ///
  /// - Parameter machine: its clock decides which states have expired.
  public init(_ home: Home, machine: Machine) {
    self.home = home
    now = machine.now
    known = Guarded(Known())
  }

  /// Whether records of a scenario are written.
  public func isOn(_ name: ScenarioName) -> Bool {
    let time = now()
    return state(of: name)?.isOn(at: time) ?? false
  }

  /// The state of a scenario; nil if it has none.
  public func state(of name: ScenarioName) -> ScenarioState? {
    let time = now()
    return known.withLock { known in
      if known.checkedAt.map({ !(.zero..<Self.period).contains(time - $0) }) ?? true {
        known.checkedAt = time
        poll(&known)
      }
      return known.states[name]
    }
  }

  private func poll(_ known: inout Known) {
    let file = ControlFile(home)
    // Read the content after the status: a change in between is noticed next time.
    let status = try? FileStatus(file.path)
    guard status == nil || status != known.file else { return }
    known.file = status
    known.states = status == nil ? [:] : (try? file.scenarios()) ?? [:]
  }
}
