import Logging
import Platform

extension Connection {
  /// Sends one request like ``perform(_:handle:)``, and logs it in one line if the logger's level
  /// includes it.
  func performLogged(
    _ request: HTTPRequest, handle: CancellationHandle, _ logger: Logger
  ) throws(TransportError) -> HTTPResponse {
    guard logger.logLevel <= .debug else { return try perform(request, handle: handle) }
    let start = ContinuousClock.now
    let what = "\(request.method) \(SecretMask().mask(request.url))"
    do {
      let response = try perform(request, handle: handle)
      let sent = request.body.map { ", \($0.count) B sent" } ?? ""
      let received = response.body.isEmpty ? "" : ", \(response.body.count) B received"
      logger.debug(
        "\(what) \(response.status)\(sent)\(received), \((ContinuousClock.now - start).millisecondsText)"
      )
      return response
    } catch {
      logger.debug("\(what) failed: \(error), \((ContinuousClock.now - start).millisecondsText)")
      throw error
    }
  }
}
