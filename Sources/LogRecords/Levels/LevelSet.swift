/// A set of levels that a reader selects.
public struct LevelSet: Sendable, Equatable {
  private var bits: UInt8

  /// Every level.
  public static let all = LevelSet(Level.allCases)

  /// Exactly these levels.
  public init(_ levels: some Sequence<Level>) {
    bits = levels.reduce(0) { $0 | 1 << $1.rawValue }
  }

  /// A level and those above it.
  public static func from(_ level: Level) -> LevelSet {
    LevelSet(Level.allCases.filter { $0 >= level })
  }

  /// Parses a person's selection: `ERROR` for it and those above, `ERROR,FAULT` for exactly these,
  /// `=ERROR` for exactly one; nil for anything else.
  public init?(_ text: String) {
    let isExact = text.hasPrefix("=") || text.contains(",")
    let names = text.drop { $0 == "=" }.split(separator: ",", omittingEmptySubsequences: false)
    let levels = names.compactMap { Level(name: String($0)) }
    guard levels.count == names.count, let first = levels.first else { return nil }
    self = isExact ? LevelSet(levels) : .from(first)
  }

  /// Whether it contains a level.
  public func contains(_ level: Level) -> Bool { bits & (1 << level.rawValue) != 0 }

  /// Their indexes in the order of levels, lowest first.
  public var ranks: [Int] {
    Level.allCases.filter(contains).map { Int($0.rawValue) }
  }
}
