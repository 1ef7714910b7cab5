import HTTPTransport

extension S3Action {
  /// The reaction that an answer calls for, whatever its status.
  init(_ response: HTTPResponse) {
    if response.status < 300, !S3Failure.isError(response) {
      let root = try? XMLScanner.parse(response.body)
      let isPartial = root?.name == "DeleteResult" && root?.child("Error") != nil
      self = isPartial ? .okPartial : .ok
    } else {
      self = S3Failure(response).action(response)
    }
  }
}

/// Whether text is a flag that is set; `True` and `1` count like `true`.
func isTrue(_ text: String?) -> Bool {
  ["true", "1"].contains(text?.lowercased())
}
