package import HTTPTransport
import Platform

/// A URL requested while all goes well, so that a monitor notices when the requests stop.
package struct Heartbeat: Sendable {
  private let request: BoundedRequest

  /// Makes one.
  package init(_ transport: HTTPTransport) {
    request = BoundedRequest(transport, .seconds(10))
  }

  /// Asks.
  ///
  /// - Returns: why that failed, in one line for a person; nil where it did not.
  package func ask(_ url: Webhook) async -> String? {
    await request.send(
      HTTPRequest(method: "GET", url: url.url, maximumResponseBytes: 64 << 10), to: url)
  }
}
