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
  private let steps: Int

  /// - Parameters:
  ///   - seed: one history for each.
  ///   - steps: how many.
  package init(seed: UInt64, steps: Int = 30, _ hazards: Hazards) {
    // Generators of neighbouring seeds give the same numbers, one later than the other.
    var first = SeededGenerator(case: 0, seed: seed)
    random = SeededGenerator(case: 0, seed: first.next())
    self.steps = steps
    self.hazards = hazards
  }

  /// Makes the history.
  package mutating func make() -> History {
    let homes = Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1
    let store = ["bucket", "webdav", "folder"].randomElement(using: &random) ?? "bucket"
    var made: [Step] = []
    // A history has a character: what is frequent in one is rare in another.
    let weights = Weighted.all.map { ($0.make, $0.weight * Int.random(in: 0...4, using: &random)) }
    let allowed = Weighted.all.indices.filter {
      weights[$0].1 > 0 && (hazards == .all || Weighted.all[$0].isWithstood)
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
    return History(store: store, homes: homes, seed: random.next() >> 32, made)
  }

  private mutating func step(_ action: Action) -> Step {
    var step = Step(action, seed: random.next() >> 32)
    guard action.isCommand else { return step }
    if Int.random(in: 0..<6, using: &random) == 0 { step.beside = besides() }
    if Int.random(in: 0..<3, using: &random) == 0 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        if let fault = fault() {
          step.faults.append(.init(Int.random(in: 0..<12, using: &random), fault))
        }
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
    let faults: [(Fault, isWithstood: Bool)] = [
      (.refuse(Fault.Refusal.allCases.randomElement(using: &random) ?? .unavailable), true),
      (.loseAnswer, true), (.late(few), true), (.double(few), true), (.half, true),
      (.halfAccepted, false), (.damage, false), (.swallow(few * 8), false), (.stale(many), false),
      (.partial, false), (.ghosts, true),
    ]
    return faults.filter { hazards == .all || $0.isWithstood }.randomElement(using: &random)?.0
  }
}

/// An action with how often it comes.
private struct Weighted {
  let weight: Int
  let isWithstood: Bool
  let make: @Sendable (inout SeededGenerator) -> Action

  init(
    _ weight: Int, isWithstood: Bool = true,
    _ make: @escaping @Sendable (inout SeededGenerator) -> Action
  ) {
    (self.weight, self.isWithstood, self.make) = (weight, isWithstood, make)
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
    Weighted(6) { .start(home: home(&$0)) },
    Weighted(14) {
      .write(home: home(&$0), session: some(&$0), bytes: Int.random(in: 1...9000, using: &$0))
    },
    Weighted(5) { .end(home: home(&$0), session: some(&$0)) },
    Weighted(2) { .kill(home: home(&$0), session: some(&$0)) },
    Weighted(8) {
      .append(home: home(&$0), file: some(&$0), lines: Int.random(in: 1...40, using: &$0))
    },
    Weighted(3) {
      .rotate(
        home: home(&$0), file: some(&$0),
        Action.Rotation.allCases.randomElement(using: &$0) ?? .create)
    },
    Weighted(1) { .rewrite(home: home(&$0), file: some(&$0)) },
    Weighted(1) { .unlink(home: home(&$0), file: some(&$0)) },
    Weighted(20) { .upload(home: home(&$0)) },
    Weighted(2) {
      .reap(
        home: home(&$0), olderThan: [nil, 1, 3600, 86_400].randomElement(using: &$0) ?? nil,
        isRemote: Bool.random(using: &$0))
    },
    Weighted(1) { .reapWithoutStore(home: home(&$0)) },
    Weighted(3) { .pull(home: home(&$0)) },
    Weighted(3) { .repair(home: home(&$0)) },
    Weighted(1) { .redact(home: home(&$0)) },
    Weighted(1) {
      .delete(
        home: home(&$0), session: some(&$0), isLocal: Bool.random(using: &$0),
        isRemote: Bool.random(using: &$0))
    },
    Weighted(3) { .read(home: home(&$0), session: some(&$0)) },
    Weighted(14) { .pass(seconds: spans.randomElement(using: &$0) ?? 60) },
    Weighted(2) {
      .step(
        home: home(&$0),
        seconds: (spans.randomElement(using: &$0) ?? 60) * (Bool.random(using: &$0) ? 1 : -1))
    },
    Weighted(1) { .setRight(home: home(&$0)) },
    Weighted(1) { .stepServer(seconds: Int64.random(in: -90_000...90_000, using: &$0)) },
    Weighted(2) { .reboot(home: home(&$0), losesTime: Int.random(in: 0..<4, using: &$0) == 0) },
    Weighted(1) { .cutPower(home: home(&$0)) },
    Weighted(1, isWithstood: false) { .snapshot(home: home(&$0)) },
    Weighted(1, isWithstood: false) {
      .rollBack(home: home(&$0), reboots: Bool.random(using: &$0))
    },
    Weighted(1, isWithstood: false) {
      .clone(home: home(&$0), keepsMachineId: Bool.random(using: &$0))
    },
    Weighted(2) {
      .lose(
        home: home(&$0),
        [.cache, .open, .lived, .stores].randomElement(using: &$0) ?? .cache)
    },
    Weighted(1, isWithstood: false) {
      .lose(home: home(&$0), [.device, .sidecar].randomElement(using: &$0) ?? .device)
    },
    Weighted(1, isWithstood: false) {
      .identify(home: home(&$0), id: [nil, 1, 2].randomElement(using: &$0) ?? nil)
    },
    Weighted(1) {
      .consent(home: home(&$0), allowsLogs: Bool.random(using: &$0))
    },
    Weighted(1) { .rules(home: home(&$0), some(&$0)) },
    Weighted(1) { _ in .unmount }, Weighted(2) { _ in .mount },
    Weighted(1, isWithstood: false) { _ in .empty },
    Weighted(2, isWithstood: false) { .remove(object: some(&$0)) },
    Weighted(1) { .forge(object: some(&$0), .foreign) },
    Weighted(1, isWithstood: false) { .forge(object: some(&$0), .otherSize) },
  ]
}
