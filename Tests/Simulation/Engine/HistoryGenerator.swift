import TestSupport

/// Generates histories from seeds.
package struct HistoryGenerator: Sendable {
  /// The kinds of events in histories.
  package enum Hazards: String, Sendable, CaseIterable {
    /// Everything.
    case all
    /// Only events that the product is known to withstand.
    case withstood
  }

  private var random: SeededGenerator
  private let hazards: Hazards
  private let also: Set<String>
  private let often: Set<String>
  private let steps: Int
  /// Whether the history has events of ``Weighted/Occurrence/sometimes``.
  private var hasAccidents = false

  /// - Parameters:
  ///   - seed: identifies the history.
  ///   - steps: number of steps.
  ///   - hazards: the kinds of events.
  ///   - also: names of additional actions and faults.
  ///   - often: actions that are frequent in every history.
  package init(
    seed: UInt64, steps: Int = 30, _ hazards: Hazards, also: Set<String> = [],
    often: Set<String> = []
  ) {
    // Neighbouring seeds produce the same numbers, shifted by one.
    var first = SeededGenerator(case: 0, seed: seed)
    random = SeededGenerator(case: 0, seed: first.next())
    self.steps = steps
    self.hazards = hazards
    self.also = also
    self.often = often
  }

  /// Generates the history.
  package mutating func make() -> History {
    let homes = [1, 1, 1, 1, 1, 2, 2, 3].randomElement(using: &random) ?? 1
    let isShared = homes > 1 && Int.random(in: 0..<3, using: &random) > 0
    let store = ["bucket", "webdav", "folder"].randomElement(using: &random) ?? "bucket"
    var made: [Step] = []
    // A history has a character: actions frequent in one are rare in another.
    let weights = Weighted.all.map { action in
      let factor = Int.random(in: 0...4, using: &random)
      return (action.make, often.contains(action.name) ? 20 : action.weight * factor)
    }
    hasAccidents = Int.random(in: 0..<3, using: &random) == 0
    let allowed = Weighted.all.indices.filter { index in
      let action = Weighted.all[index]
      let occurs =
        switch action.occurrence {
        case .always: true
        case .sometimes: hasAccidents || happens(action.name)
        case .onRequest: happens(action.name)
        }
      return weights[index].1 > 0 && occurs
    }
    let total = allowed.reduce(0) { $0 + weights[$1].1 }
    made.append(Step(.start(home: 0), seed: random.next() >> 32))
    while made.count < steps {
      var pick = Int.random(in: 0..<max(1, total), using: &random)
      let index = allowed.first { index in
        pick -= weights[index].1
        return pick < 0
      }
      guard let index else {
        made.append(Step(.upload(home: 0), seed: random.next()))
        continue
      }
      made.append(step(weights[index].0(&random)))
    }
    return History(
      store: store, homes: homes, isShared: isShared, seed: random.next() >> 32,
      habits: LogHabits(&random), made)
  }

  /// Whether an event occurs that does not occur in every history.
  private func happens(_ event: String) -> Bool { hazards == .all || also.contains(event) }

  /// Consecutive calls that fail in an outage: more than a client retries.
  private static let outage = 12

  private mutating func step(_ action: Action) -> Step {
    var step = Step(action, seed: random.next() >> 32)
    if case .write = action, Int.random(in: 0..<12, using: &random) == 0 {
      step.death = Int.random(in: 0..<30, using: &random)
    }
    guard action.isCommand else { return step }
    if Int.random(in: 0..<6, using: &random) == 0 { step.beside = besides() }
    if Int.random(in: 0..<3, using: &random) == 0 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        guard let fault = fault() else { continue }
        let call = Int.random(in: 0..<12, using: &random)
        let calls = Int.random(in: 0..<6, using: &random) == 0 ? Self.outage : 1
        step.faults += (0..<calls).map { .init(call + $0, fault) }
      }
    }
    if Int.random(in: 0..<8, using: &random) == 0 {
      step.death = Int.random(in: 0..<150, using: &random)
    }
    return step
  }

  private mutating func besides() -> Action {
    let home = Int.random(in: 0..<4, using: &random)
    let session = Int.random(in: 0..<8, using: &random)
    return [
      .upload(home: home), .upload(home: home), .read(home: home, session: session),
      .pull(home: home), .reap(home: home, olderThan: nil, isRemote: true), .repair(home: home),
    ].randomElement(using: &random) ?? .upload(home: home)
  }

  private mutating func fault() -> Fault? {
    let few = Int.random(in: 1...6, using: &random)
    let many = Int.random(in: 1...40, using: &random)
    var faults: [Fault] = [
      .refuse(Fault.Refusal.allCases.randomElement(using: &random) ?? .unavailable),
      .loseAnswer, .late(few), .double(few), .half, .ghosts,
    ]
    let accidents: [(String, Fault)] = [
      ("halfAccepted", .halfAccepted), ("damage", .damage), ("stale", .stale(many)),
      ("partial", .partial),
    ]
    faults += accidents.filter { hasAccidents || happens($0.0) }.map(\.1)
    // What a cache confirms and loses is safe only while it is local.
    if happens("swallow") { faults.append(.swallow(few * 8)) }
    return faults.randomElement(using: &random)
  }
}
