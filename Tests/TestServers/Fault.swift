/// What a `FaultProxy` does to one request.
package enum Fault: String, CaseIterable, Sendable {
  /// The connection breaks before the server hears of it.
  case resetBefore
  /// The server does it; the connection breaks instead of an answer.
  case resetAfter
  /// 500 without a word.
  case serverError
  /// 502, as from a gateway.
  case badGateway
  /// 503, as from a server that is overloaded.
  case unavailable
  /// 429 with `Retry-After: 0`.
  case tooMany
  /// 429 with `Retry-After: 1`.
  case tooManyWait
  /// The answer comes in small pieces.
  case slow
  /// The answer ends in its middle.
  case cutAnswer
  /// One bit of an uploaded object is another.
  case flippedUpload
  /// One bit of a downloaded object is another.
  case flippedDownload
  /// The server gets it twice.
  case duplicate
  /// The connection to the server breaks in the middle of an upload.
  case cutUpload
  /// Half of an upload is stored, and success comes back.
  case halfStored
  /// Nothing of an upload is stored, and success comes back.
  case dropped
  /// Half of the body goes on; then nothing moves until the client hangs up.
  case held

  /// Those that end by themselves.
  package static let passing = allCases.filter { $0 != .held }

  /// Whether it can happen to a request.
  ///
  /// Bits are flipped in objects alone: their names say what they hold, while no store promises
  /// anything of a listing whose very names have changed on the way.
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
