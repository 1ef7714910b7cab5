public import Platform

/// Says whether scenarios are on, by the home's ``ControlFile``.
///
/// The file is looked at once a second at the most. Without it, or where it cannot be read, all are
/// off.
public final class ScenarioSwitch: Sendable {
  private let home: Home
  private let now: @Sendable () -> Timestamp
  private let known: Guarded<Known>

  private struct Known {
    var lookedAt: Timestamp?
    var file: FileStatus?
    var states: [ScenarioName: ScenarioState] = [:]
  }

  private static let period = Duration.seconds(1)

  /// The switch of a home.
  ///
  /// - Parameter machine: whose clock says what has expired.
  public init(_ home: Home, machine: Machine = .current) {
    self.home = home
    now = machine.now
    known = Guarded(Known())
  }

  /// Whether records of a scenario are written.
  public func isOn(_ name: ScenarioName) -> Bool {
    let time = now()
    return state(of: name)?.isOn(at: time) ?? false
  }

  /// What is remembered of a scenario; nil where nothing is.
  public func state(of name: ScenarioName) -> ScenarioState? {
    let time = now()
    return known.withLock { known in
      if known.lookedAt.map({ !(.zero..<Self.period).contains(time - $0) }) ?? true {
        known.lookedAt = time
        look(&known)
      }
      return known.states[name]
    }
  }

  private func look(_ known: inout Known) {
    let file = ControlFile(home)
    // Read after its status: what comes between is seen the next time.
    let status = try? FileStatus(file.path)
    guard status == nil || status != known.file else { return }
    known.file = status
    known.states = status == nil ? [:] : (try? file.scenarios()) ?? [:]
  }
}
