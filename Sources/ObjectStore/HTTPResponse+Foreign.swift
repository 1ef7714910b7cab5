import HTTPTransport

/// Signs that an answer is not the store's own.
extension HTTPResponse {
  /// Whether the body is a web page: a login form, or what a proxy has to say.
  ///
  /// Both the type and the beginning: some servers call everything HTML that they do not know.
  var isWebPage: Bool {
    guard header("Content-Type")?.lowercased().hasPrefix("text/html") == true else { return false }
    let start = String(decoding: body.prefix(512), as: UTF8.self).lowercased()
      .drop { $0.isWhitespace || $0 == "\u{feff}" }
    return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
  }

  /// Whether somebody has packed the body on its way, although nobody asked for that.
  ///
  /// Some servers name the encoding of a file by the end of its name, which is no packing.
  var isPacked: Bool {
    let encoding = header("Content-Encoding")?.lowercased() ?? ""
    return !["", "identity", "zstd", "aws-chunked"].contains(encoding)
  }
}

extension HTTPFailure {
  /// The error for an answer that was packed on its way.
  func packed(_ response: HTTPResponse) -> StoreError {
    error(
      response, .integrity, detail: "the answer is compressed, which was not asked for",
      advice: "Turn compression off for this folder of the server.")
  }
}
