/// A fault that a `FaultProxy` causes in one request.
package enum Fault: String, CaseIterable, Sendable {
  /// The connection breaks before the server receives the request.
  case resetBefore
  /// The server carries out the request; the connection breaks instead of an answer.
  case resetAfter
  /// 500 without a body.
  case serverError
  /// 502, as from a gateway.
  case badGateway
  /// 503, as from an overloaded server.
  case unavailable
  /// 429 with `Retry-After: 0`.
  case tooMany
  /// 429 with `Retry-After: 1`.
  case tooManyWait
  /// The answer comes in small pieces.
  case slow
  /// The answer ends in the middle.
  case cutAnswer
  /// One bit of an uploaded object is flipped.
  case flippedUpload
  /// One bit of a downloaded object is flipped.
  case flippedDownload
  /// The server receives it twice.
  case duplicate
  /// The connection to the server breaks in the middle of an upload.
  case cutUpload
  /// Half of an upload is stored, and success is reported.
  case halfStored
  /// Nothing of an upload is stored, and success is reported.
  case dropped
  /// Half of the body is forwarded; then nothing more until the client hangs up.
  case held

  /// Faults that end by themselves.
  package static let endingByThemselves = allCases.filter { $0 != .held }

  /// Whether it can affect a request.
  ///
  /// Bits are flipped in objects only: their names show what they hold, while nothing could detect
  /// a listing whose names have changed in transit.
  package func concerns(_ request: WireRequest) -> Bool {
    switch self {
    case .flippedUpload, .cutUpload, .halfStored:
      request.method == "PUT" && request.body.count > 1
    case .dropped: request.method == "PUT"
    case .flippedDownload: request.method == "GET" && !request.target.contains("list-type=")
    default: true
    }
  }
}
