extension SigV4Signer {
  func canonical(
    _ method: String, _ path: String, _ query: [(String, String)],
    _ headers: [(name: String, value: String)], _ payloadHash: String
  ) -> (request: String, names: String) {
    var values: [String: [String]] = [:]
    for (name, value) in headers {
      values[name.lowercased(), default: []].append(Self.collapsed(value))
    }
    let names = values.keys.sorted()
    let lines = names.map { "\($0):\((values[$0] ?? []).joined(separator: ","))\n" }.joined()
    let joined = names.joined(separator: ";")
    let request = [
      method, canonicalPath(path), Self.canonicalQuery(query), lines, joined, payloadHash,
    ].joined(separator: "\n")
    return (request, joined)
  }

  /// The path of a target, and its query as decoded pairs.
  func split(_ target: String) -> (path: String, query: [(String, String)]) {
    guard let mark = target.firstIndex(of: "?") else { return (target, []) }
    let pairs = target[target.index(after: mark)...].split(separator: "&").map { pair in
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decoded(halves[0]), halves.count > 1 ? Self.decoded(halves[1]) : "")
    }
    return (String(target[..<mark]), pairs)
  }

  /// The query encoded strictly and sorted by the encoded names, then values.
  static func canonicalQuery(_ query: [(String, String)]) -> String {
    query.map { (PercentEncoding.encode($0.0), PercentEncoding.encode($0.1)) }
      .sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }
      .joined(separator: "&")
  }

  private func canonicalPath(_ path: String) -> String {
    let path = path.isEmpty ? "/" : path
    switch pathRule {
    case .asSent:
      return path
    case .encodedAgain(normalized: false):
      return PercentEncoding.encode(path, keepingSlash: true)
    case .encodedAgain(normalized: true):
      var kept: [Substring] = []
      for segment in path.split(separator: "/") where segment != "." {
        if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
      }
      let slash = path.hasSuffix("/") && !kept.isEmpty ? "/" : ""
      return PercentEncoding.encode("/" + kept.joined(separator: "/") + slash, keepingSlash: true)
    }
  }

  private static func decoded(_ text: Substring) -> String {
    PercentEncoding.decode(text).map { String(decoding: $0, as: UTF8.self) } ?? String(text)
  }

  /// The value without surrounding blanks, and with one blank for each run of blanks.
  private static func collapsed(_ value: String) -> String {
    value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
  }
}
