/// Simplifies a failing history as far as it still violates the same rule.
package struct Shrinker: Sendable {
  private let fails: @Sendable (History) async -> Bool

  /// - Parameter fails: whether a history still fails.
  package init(fails: @escaping @Sendable (History) async -> Bool) { self.fails = fails }

  /// Shrinks steps, then concurrent actions and faults, then sizes.
  package func shrink(_ history: History) async -> History {
    var history = history
    while true {
      let before = history
      history = await dropSteps(history)
      history = await simplify(history)
      if history == before { return history }
    }
  }

  /// Drops runs of steps, half of them first, then fewer (Zeller and Hildebrandt 2002).
  private func dropSteps(_ history: History) async -> History {
    var history = history
    var length = max(1, history.steps.count / 2)
    while true {
      var start = 0
      while start < history.steps.count {
        var shorter = history
        shorter.steps.removeSubrange(start..<min(history.steps.count, start + length))
        if await fails(shorter) { history = shorter } else { start += length }
      }
      if length == 1 { return history }
      length = max(1, length / 2)
    }
  }

  private func simplify(_ history: History) async -> History {
    var history = history
    var fewer = history
    fewer.homes = 1
    if history.homes > 1, await fails(fewer) { history = fewer }
    var apart = history
    apart.isShared = false
    if history.isShared, await fails(apart) { history = apart }
    for simplify in LogHabits.simplifications {
      var simpler = history
      simplify(&simpler.habits)
      if simpler != history, await fails(simpler) { history = simpler }
    }
    for index in history.steps.indices {
      for simpler in history.steps[index].simpler {
        var candidate = history
        candidate.steps[index] = simpler
        if await fails(candidate) { history = candidate }
      }
    }
    return history
  }
}

extension Step {
  /// Simpler steps to try instead, each with one thing less.
  fileprivate var simpler: [Step] {
    var steps: [Step] = []
    func add(_ change: (inout Step) -> Void) {
      var step = self
      change(&step)
      if step != self { steps.append(step) }
    }
    add { $0.beside = nil }
    add { $0.faults = [] }
    for index in faults.indices { add { $0.faults.remove(at: index) } }
    add { $0.death = nil }
    if let death { add { $0.death = death / 2 } }
    if let smaller = action.smaller { add { $0.action = smaller } }
    if let first = action.atFirstHome { add { $0.action = first } }
    return steps
  }
}

extension Action {
  /// The action with half the size; nil if it has none.
  fileprivate var smaller: Action? {
    switch self {
    case .write(let home, let session, let bytes) where bytes > 1:
      .write(home: home, session: session, bytes: bytes / 2)
    case .nights(let home, let file, let count, let rotation) where count > 1:
      .nights(home: home, file: file, count: count - 1, rotation)
    case .append(let home, let file, let lines) where lines > 1:
      .append(home: home, file: file, lines: lines / 2)
    case .pass(let seconds) where seconds > 1: .pass(seconds: seconds / 2)
    case .step(let home, let seconds) where abs(seconds) > 1:
      .step(home: home, seconds: seconds / 2)
    default: nil
    }
  }

  /// The action at the first home, with the first session or file; nil if it is there already.
  fileprivate var atFirstHome: Action? {
    let first: Action? =
      switch self {
      case .start: .start(home: 0)
      case .write(_, _, let bytes): .write(home: 0, session: 0, bytes: bytes)
      case .end: .end(home: 0, session: 0)
      case .kill: .kill(home: 0, session: 0)
      case .append(_, _, let lines): .append(home: 0, file: 0, lines: lines)
      case .appendLate(_, _, let lines): .appendLate(home: 0, file: 0, lines: lines)
      case .rotate(_, _, let rotation): .rotate(home: 0, file: 0, rotation)
      case .nights(_, _, let count, let rotation):
        .nights(home: 0, file: 0, count: count, rotation)
      case .upload: .upload(home: 0)
      case .round: .upload(home: 0)
      case .reboot(_, let losesTime): .reboot(home: 0, losesTime: losesTime)
      case .cutPower: .cutPower(home: 0)
      case .fill(_, let room): .fill(home: 0, room: room)
      case .fail(_, let changes): .fail(home: 0, every: changes)
      case .recover: .recover(home: 0)
      case .consent(_, let allowsLogs): .consent(home: 0, allowsLogs: allowsLogs)
      default: nil
      }
    return first == self ? nil : first
  }
}
