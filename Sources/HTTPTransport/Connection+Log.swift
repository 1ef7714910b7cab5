import Logging
import Platform

extension Connection {
  /// Sends one request like ``perform(_:handle:)``, and logs it in one line if the logger's level
  /// includes it.
  func performLogged(
    _ request: HTTPRequest, handle: CancellationHandle
  ) throws(TransportError) -> HTTPResponse {
    let logger = options.logger
    guard logger.logLevel <= .debug else { return try perform(request, handle: handle) }
    let start = ContinuousClock.now
    let mask = SecretMask(known: options.hasSecretTargets ? SecretMask.secrets(of: request) : [])
    let what = "\(request.method) \(mask.mask(request.url))"
    do {
      let response = try perform(request, handle: handle)
      let sent = request.body.map { ", \($0.count) B sent" } ?? ""
      let received = response.body.isEmpty ? "" : ", \(response.body.count) B received"
      logger.debug(
        "\(what) \(response.status)\(sent)\(received), \((ContinuousClock.now - start).millisecondsText)"
      )
      return response
    } catch {
      let reason = mask.mask("\(error)")
      logger.debug("\(what) failed: \(reason), \((ContinuousClock.now - start).millisecondsText)")
      throw error
    }
  }
}
