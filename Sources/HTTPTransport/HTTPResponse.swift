/// One complete HTTP answer; its body has been read to the end.
package struct HTTPResponse: Sendable {
  /// The status code, such as 200.
  package var status: Int
  /// The header fields, in the order received.
  package var headers: [(name: String, value: String)]
  /// The body; empty for HEAD, 204 and 304.
  package var body: [UInt8]
  /// Whether the other end of the connection was on this machine.
  package var isFromThisMachine = false

  /// Makes a response.
  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first header field with a name, ignoring case.
  package func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}
