import HTTPTransport

/// Detects answers that are not the store's own.
extension HTTPResponse {
  /// Whether the body is a web page: a login form, or a proxy's message.
  ///
  /// Checks both the type and the start of the body: some servers label everything unknown as HTML.
  var isWebPage: Bool {
    guard header("Content-Type")?.lowercased().hasPrefix("text/html") == true else { return false }
    let start = String(decoding: body.prefix(512), as: UTF8.self).lowercased()
      .drop { $0.isWhitespace || $0 == "\u{feff}" }
    return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
  }

  /// Whether an intermediary compressed the body without being asked to.
  ///
  /// Some servers derive the encoding from a file's extension, which is not compression.
  var isPacked: Bool {
    let encoding = header("Content-Encoding")?.lowercased() ?? ""
    return !["", "identity", "zstd", "aws-chunked"].contains(encoding)
  }
}

extension HTTPFailure {
  /// The error for an answer compressed in transit.
  func packed(_ response: HTTPResponse) -> StoreError {
    error(
      response, .integrity, detail: "the answer is compressed, which was not asked for",
      advice: "Turn compression off for this folder of the server.")
  }
}
