/// One request to S3 before it is addressed and signed.
struct S3Call {
  var method: String
  /// What messages call it.
  var operation: String
  /// The key, relative to the store's prefix; nil for the bucket itself.
  var key: String?
  var query: [(String, String)] = []
  var headers: [(name: String, value: String)] = []
  var body: [UInt8]?
  /// Bytes of body that the answer may have; nil for the transport's own limit.
  var responseLimit: Int?

  /// The same question as a request whose errors have a body; nil when this has.
  var speaking: S3Call? {
    guard method == "HEAD" else { return nil }
    var call = self
    call.method = "GET"
    if key == nil {
      call.query = [("list-type", "2"), ("max-keys", "1")]
    } else {
      call.headers.append((name: "Range", value: "bytes=0-0"))
    }
    return call
  }
}

/// With what one request is signed, and where it goes.
struct S3Signing {
  var key: S3Credentials
  var region: String
  /// How far the server's clock is ahead of ours.
  var clockOffset: Duration
  /// Another place than the service's own, for one call.
  var route: S3Route?
}
