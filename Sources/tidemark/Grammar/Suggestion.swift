/// Suggests a known word for a misspelt one.
enum Suggestion {
  /// The nearest known word; nil if none is similar.
  static func nearest(to word: String, among known: [String]) -> String? {
    let most = min(3, max(1, word.count / 3))
    let near = known.map { (distance(word, $0), $0) }.min { $0.0 < $1.0 }
    return near.flatMap { $0.0 <= most ? $0.1 : nil }
  }

  /// Names that other programs use for our commands.
  private static let synonyms = [
    "ls": "list", "ps": "list", "sessions": "list", "rm": "delete", "remove": "delete",
    "cat": "show", "logs": "show", "find": "grep", "search": "grep", "push": "upload",
    "sync": "upload", "download": "pull", "info": "status", "check": "verify",
  ]

  /// `; did you mean 'list'?`, or nothing.
  static func hint(for word: String, among known: [String]) -> String {
    let synonym = synonyms[word].flatMap { known.contains($0) ? $0 : nil }
    return (synonym ?? nearest(to: word, among: known)).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// Levenshtein's distance, counting a transposition as one edit.
  private static func distance(_ left: String, _ right: String) -> Int {
    let (a, b) = (Array(left), Array(right))
    var before: [Int] = []
    var row = Array(0...b.count)
    for i in a.indices {
      var next = [i + 1]
      for j in b.indices {
        var least = min(row[j + 1] + 1, next[j] + 1, row[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, before[j - 1] + 1)
        }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[b.count]
  }
}
