/// One HTTP request, sent verbatim.
package struct HTTPRequest: Sendable {
  /// The method, such as `PUT`.
  package var method: String
  /// The absolute URL, already percent-encoded; its path is not normalized.
  package var url: String
  /// The header fields, in order.
  ///
  /// Credentials go here.
  package var headers: [(name: String, value: String)]
  /// The body; nil sends none.
  package var body: [UInt8]?
  /// Maximum body size of the answer; a larger one fails the request with `tooLarge`.
  package var maximumResponseBytes: Int

  /// Makes a request.
  package init(
    method: String, url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil, maximumResponseBytes: Int = 64 << 20
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.maximumResponseBytes = maximumResponseBytes
  }
}
