package import HTTPTransport
import Platform

/// Requests a URL after each successful pass, so that a monitor notices when the requests stop.
package struct Heartbeat: Sendable {
  private let request: BoundedRequest

  /// Makes a heartbeat.
  package init(_ transport: HTTPTransport) {
    request = BoundedRequest(transport, .seconds(10))
  }

  /// Requests the URL.
  ///
  /// - Returns: why it failed, in one line for a person; nil if it succeeded.
  package func ping(_ url: Webhook) async -> String? {
    await request.send(
      HTTPRequest(method: "GET", url: url.url, maximumResponseBytes: 64 << 10), to: url)
  }
}
