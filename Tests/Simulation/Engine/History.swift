/// A sequence of steps in a world.
package struct History: Hashable, Sendable {
  /// The kind of the store: `bucket`, `webdav` or `folder`.
  package var store: String
  /// Number of homes at the start.
  package var homes: Int
  /// Seed of the machines' random numbers.
  package var seed: UInt64
  /// Whether these share one machine, instead of having one each.
  package var isShared: Bool
  /// How other programs keep their logs.
  package var habits: LogHabits
  /// The steps.
  package var steps: [Step]

  /// Describes a history.
  package init(
    store: String = "bucket", homes: Int = 1, isShared: Bool = false, seed: UInt64 = 1,
    habits: LogHabits = LogHabits(), _ steps: [Step]
  ) {
    (self.store, self.homes, self.isShared) = (store, homes, isShared)
    (self.seed, self.habits, self.steps) = (seed, habits, steps)
  }
}

// MARK: Source

extension History: CustomStringConvertible {
  /// The history as Swift source, ready to paste into a test.
  package var description: String {
    """
    History(store: "\(store)", homes: \(homes), isShared: \(isShared), seed: \(seed), \
    \(habits == LogHabits() ? "" : "habits: .\(habits.source), ")[
    \(steps.map { "  \($0)," }.joined(separator: "\n"))
    ])
    """
  }
}

extension Step: CustomStringConvertible {
  /// The step as Swift source.
  package var description: String {
    var parts = [Self.source(action)]
    if let beside { parts.append("beside: \(Self.source(beside))") }
    if seed != 1 { parts.append("seed: \(seed)") }
    if !faults.isEmpty {
      parts.append(
        "faults: [\(faults.map { ".init(\($0.call), \(Self.source($0.fault)))" }.joined(separator: ", "))]"
      )
    }
    if let death { parts.append("death: \(death)") }
    return "Step(\(parts.joined(separator: ", ")))"
  }

  /// An enum value as Swift source: the compiler's own text contains full type names.
  private static func source(_ value: some Any) -> String {
    let text = "\(value)"
      .replacing("Simulation.", with: "").replacing("Optional(", with: "(")
    let types = ["Action.Rotation.", "Action.Part.", "Action.Forgery.", "Fault.Refusal."]
    return "." + types.reduce(text) { $0.replacing($1, with: ".") }
  }
}
