import Platform

extension DecodingError {
  /// Maximum number of characters of a summary: an error repeats the value that it found, which
  /// somebody else may have written.
  private static let longestSummary = 240
  /// Maximum number of characters of the name of a member in it, which may be anybody's as well.
  private static let longestName = 64

  /// The member that could not be decoded, and why, in one escaped line of bounded length:
  /// `'startedAt' is missing`.
  package var summary: String { String(oneLine: text, limit: Self.longestSummary) }

  private var text: String {
    switch self {
    case .keyNotFound(let key, let context):
      return "'\(Self.name(of: context.codingPath + [key]))' is missing"
    case .valueNotFound(_, let context): return Self.text(context, "is null")
    case .typeMismatch(let type, let context): return Self.text(context, "is not a \(type)")
    case .dataCorrupted(let context):
      guard !context.codingPath.isEmpty else { return context.debugDescription }
      return Self.text(context, "is wrong: \(context.debugDescription)")
    @unknown default: return "\(self)"
    }
  }

  private static func text(_ context: Context, _ what: String) -> String {
    let path = context.codingPath
    return "\(path.isEmpty ? "it" : "'\(name(of: path))'") \(what)"
  }

  private static func name(of path: [any CodingKey]) -> String {
    String(oneLine: path.map(\.stringValue).joined(separator: "."), limit: longestName)
  }
}
