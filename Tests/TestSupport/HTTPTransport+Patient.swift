package import HTTPTransport

extension HTTPTransport {
  /// A transport that waits for an answer however busy the machine is.
  ///
  /// - Parameter workers: maximum number of concurrent requests; nil for the default.
  package static func patient(workers: Int? = nil) -> HTTPTransport {
    var options = Options()
    if let workers { options.workers = workers }
    options.connectTimeout = .seconds(3600)
    options.stallTimeout = .seconds(3600)
    return HTTPTransport(options)
  }
}
