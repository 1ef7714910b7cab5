import TestSupport

/// Makes histories out of seeds.
package struct HistoryGenerator: Sendable {
  /// What happens in histories.
  package enum Hazards: String, Sendable, CaseIterable {
    /// Everything.
    case all
    /// Only what the product is known to withstand.
    case withstood
  }

  private var random: SeededGenerator
  private let hazards: Hazards
  private let also: Set<String>
  private let often: Set<String>
  private let steps: Int

  /// - Parameters:
  ///   - seed: one history for each.
  ///   - steps: how many.
  ///   - hazards: what happens.
  ///   - also: actions and faults that happen besides, by their names.
  ///   - often: actions that are frequent in every history.
  package init(
    seed: UInt64, steps: Int = 30, _ hazards: Hazards, also: Set<String> = [],
    often: Set<String> = []
  ) {
    // Generators of neighbouring seeds give the same numbers, one later than the other.
    var first = SeededGenerator(case: 0, seed: seed)
    random = SeededGenerator(case: 0, seed: first.next())
    self.steps = steps
    self.hazards = hazards
    self.also = also
    self.often = often
  }

  /// Makes the history.
  package mutating func make() -> History {
    let homes = [1, 1, 1, 1, 1, 2, 2, 3].randomElement(using: &random) ?? 1
    let isShared = homes > 1 && Int.random(in: 0..<3, using: &random) > 0
    let store = ["bucket", "webdav", "folder"].randomElement(using: &random) ?? "bucket"
    var made: [Step] = []
    // A history has a character: what is frequent in one is rare in another.
    let weights = Weighted.all.map { action in
      let factor = Int.random(in: 0...4, using: &random)
      return (action.make, often.contains(action.name) ? 20 : action.weight * factor)
    }
    let allowed = Weighted.all.indices.filter {
      weights[$0].1 > 0 && happens(Weighted.all[$0].isHazard ? Weighted.all[$0].name : nil)
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
      store: store, homes: homes, isShared: isShared, seed: random.next() >> 32, made)
  }

  /// Whether something happens in these histories, which is a hazard where it has a name.
  private func happens(_ hazard: String?) -> Bool {
    hazards == .all || hazard.map(also.contains) ?? true
  }

  /// Calls in a row that an outage makes fail: more than a client repeats one.
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
    let faults: [(Fault, hazard: String?)] = [
      (.refuse(Fault.Refusal.allCases.randomElement(using: &random) ?? .unavailable), nil),
      (.loseAnswer, nil), (.late(few), nil), (.double(few), nil), (.half, nil),
      (.halfAccepted, "halfAccepted"), (.damage, "damage"), (.swallow(few * 8), "swallow"),
      (.stale(many), "stale"), (.partial, "partial"), (.ghosts, nil),
    ]
    return faults.filter { happens($0.hazard) }.randomElement(using: &random)?.0
  }
}

/// An action with how often it comes.
private struct Weighted {
  let weight: Int
  let name: String
  /// Whether the product is not known to withstand it.
  let isHazard: Bool
  let make: @Sendable (inout SeededGenerator) -> Action

  init(
    _ weight: Int, _ name: String, isHazard: Bool = false,
    _ make: @escaping @Sendable (inout SeededGenerator) -> Action
  ) {
    (self.weight, self.name, self.isHazard, self.make) = (weight, name, isHazard, make)
  }

  private static func home(_ random: inout SeededGenerator) -> Int {
    Int.random(in: 0..<4, using: &random)
  }

  private static func some(_ random: inout SeededGenerator) -> Int {
    Int.random(in: 0..<12, using: &random)
  }

  private static let spans: [Int64] = [
    1, 60, 600, 3600, 7200, 21_600, 86_400, 3 * 86_400, 8 * 86_400, 31 * 86_400,
  ]

  static let all: [Weighted] = [
    Weighted(6, "start") { .start(home: home(&$0)) },
    Weighted(14, "write") {
      .write(home: home(&$0), session: some(&$0), bytes: Int.random(in: 1...9000, using: &$0))
    },
    Weighted(5, "end") { .end(home: home(&$0), session: some(&$0)) },
    Weighted(2, "kill") { .kill(home: home(&$0), session: some(&$0)) },
    Weighted(8, "append") {
      .append(home: home(&$0), file: some(&$0), lines: Int.random(in: 1...40, using: &$0))
    },
    Weighted(3, "rotate") {
      .rotate(
        home: home(&$0), file: some(&$0),
        [.create, .copyTruncate].randomElement(using: &$0) ?? .create)
    },
    Weighted(1, "compress", isHazard: true) {
      .rotate(home: home(&$0), file: some(&$0), .compress)
    },
    Weighted(1, "rewrite") { .rewrite(home: home(&$0), file: some(&$0)) },
    Weighted(1, "unlink") { .unlink(home: home(&$0), file: some(&$0)) },
    Weighted(20, "upload") { .upload(home: home(&$0)) },
    Weighted(2, "reap") {
      .reap(
        home: home(&$0), olderThan: [nil, 1, 3600, 86_400].randomElement(using: &$0) ?? nil,
        isRemote: Bool.random(using: &$0))
    },
    Weighted(1, "reapWithoutStore") { .reapWithoutStore(home: home(&$0)) },
    Weighted(3, "pull") { .pull(home: home(&$0)) },
    Weighted(3, "repair") { .repair(home: home(&$0)) },
    Weighted(1, "redact") { .redact(home: home(&$0)) },
    Weighted(1, "delete") {
      .delete(
        home: home(&$0), session: some(&$0), isLocal: Bool.random(using: &$0),
        isRemote: Bool.random(using: &$0))
    },
    Weighted(3, "read") { .read(home: home(&$0), session: some(&$0)) },
    Weighted(14, "pass") { .pass(seconds: spans.randomElement(using: &$0) ?? 60) },
    Weighted(2, "step") {
      .step(
        home: home(&$0),
        seconds: (spans.randomElement(using: &$0) ?? 60) * (Bool.random(using: &$0) ? 1 : -1))
    },
    Weighted(1, "setRight") { .setRight(home: home(&$0)) },
    Weighted(1, "stepServer") {
      .stepServer(seconds: Int64.random(in: -90_000...90_000, using: &$0))
    },
    Weighted(2, "reboot") {
      .reboot(home: home(&$0), losesTime: Int.random(in: 0..<4, using: &$0) == 0)
    },
    Weighted(1, "cutPower") { .cutPower(home: home(&$0)) },
    Weighted(1, "snapshot", isHazard: true) { .snapshot(home: home(&$0)) },
    Weighted(1, "rollBack", isHazard: true) {
      .rollBack(home: home(&$0), reboots: Bool.random(using: &$0))
    },
    Weighted(1, "clone", isHazard: true) {
      .clone(home: home(&$0), keepsMachineId: Bool.random(using: &$0))
    },
    Weighted(2, "lose") {
      .lose(
        home: home(&$0),
        [.cache, .open, .lived, .stores].randomElement(using: &$0) ?? .cache)
    },
    Weighted(1, "loseIdentity", isHazard: true) {
      .lose(home: home(&$0), [.device, .sidecar].randomElement(using: &$0) ?? .device)
    },
    Weighted(1, "identify", isHazard: true) {
      .identify(home: home(&$0), id: [nil, 1, 2].randomElement(using: &$0) ?? nil)
    },
    Weighted(1, "consent") {
      .consent(home: home(&$0), allowsLogs: Bool.random(using: &$0))
    },
    Weighted(1, "rules") { .rules(home: home(&$0), some(&$0)) },
    Weighted(1, "unmount") { _ in .unmount }, Weighted(2, "mount") { _ in .mount },
    Weighted(1, "empty", isHazard: true) { _ in .empty },
    Weighted(2, "remove", isHazard: true) { .remove(object: some(&$0)) },
    Weighted(1, "forge") { .forge(object: some(&$0), .foreign) },
    Weighted(1, "forgeSize", isHazard: true) { .forge(object: some(&$0), .otherSize) },
    Weighted(1, "retain") {
      .retain(
        home: home(&$0), seconds: [0, 60, 3600, 86_400, 7 * 86_400].randomElement(using: &$0) ?? 0)
    },
    Weighted(6, "round") { .round(home: home(&$0)) },
    Weighted(2, "obstruct", isHazard: true) {
      .obstruct(home: home(&$0), isLocked: Bool.random(using: &$0))
    },
    Weighted(2, "refuse", isHazard: true) {
      .refuse(home: home(&$0), session: some(&$0), isLasting: Bool.random(using: &$0))
    },
  ]
}
