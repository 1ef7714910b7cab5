/// One request to S3 before it is addressed and signed.
struct S3Call {
  var method: String
  /// Its name in messages.
  var operation: String
  /// The key, relative to the store's prefix; nil for the bucket itself.
  var key: String?
  var query: [(String, String)] = []
  var headers: [(name: String, value: String)] = []
  var body: [UInt8]?
  /// Maximum body size of the answer; nil for the transport's own limit.
  var responseLimit: Int?

  /// An equivalent request whose errors have a body; nil if this one's errors have one.
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

/// How one request is signed and addressed.
struct S3Signing {
  var key: S3Credentials
  var region: String
  /// How far the server's clock is ahead of ours.
  var clockOffset: Duration
  /// A different host than the service's own, for one call.
  var route: S3Route?
}
