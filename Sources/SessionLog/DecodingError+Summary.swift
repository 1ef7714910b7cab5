extension DecodingError {
  /// The member that could not be decoded, and why, in one line: `'startedAt' is missing`.
  package var summary: String {
    func text(_ context: Context, _ what: String) -> String {
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return "\(path.isEmpty ? "it" : "'\(path)'") \(what)"
    }
    switch self {
    case .keyNotFound(let key, let context):
      let path = (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
      return "'\(path)' is missing"
    case .valueNotFound(_, let context): return text(context, "is null")
    case .typeMismatch(let type, let context): return text(context, "is not a \(type)")
    case .dataCorrupted(let context):
      guard !context.codingPath.isEmpty else { return context.debugDescription }
      return text(context, "is wrong: \(context.debugDescription)")
    @unknown default: return "\(self)"
    }
  }
}
