/// One complete HTTP answer; its body has been read to the end.
public struct HTTPResponse: Sendable {
  /// The status code, such as 200.
  public var status: Int
  /// The header fields, in the order they came.
  public var headers: [(name: String, value: String)]
  /// The body; empty for HEAD, 204 and 304.
  public var body: [UInt8]

  /// Makes a response.
  public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first header field of a name, whatever its case.
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}
