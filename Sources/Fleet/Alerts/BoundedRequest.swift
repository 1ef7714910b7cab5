package import HTTPTransport
import Platform

/// A request with a time limit on the whole exchange.
package struct BoundedRequest: Sendable {
  private let transport: HTTPTransport
  private let limit: Duration
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Makes a request with a limit in seconds.
  package init(
    _ transport: HTTPTransport, _ limit: Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.transport, self.limit, self.sleep) = (transport, limit, sleep)
  }

  /// Maximum number of redirections that are followed.
  private static let mostRedirections = 3

  /// Sends it, and follows redirections on the same server.
  ///
  /// - Returns: why it was not accepted, in one line for a person; nil if it was.
  package func send(_ request: HTTPRequest, to webhook: Webhook) async -> String? {
    let (transport, limit, sleep) = (transport, limit, sleep)
    return await withTaskGroup(of: String?.self) { group in
      group.addTask { await Self.exchange(request, webhook, transport) }
      group.addTask {
        try? await sleep(limit)
        return "\(request.method) \(webhook): no answer within \(limit.seconds) s"
      }
      let first = await group.next()
      group.cancelAll()
      return first ?? nil
    }
  }

  private static func exchange(
    _ request: HTTPRequest, _ webhook: Webhook, _ transport: HTTPTransport
  ) async -> String? {
    var request = request
    var redirections = 0
    while true {
      let response: HTTPResponse
      do {
        response = try await transport.send(request)
      } catch let error as TransportError {
        return "\(request.method) \(webhook): \(error.code.rawValue)"
      } catch {
        return "\(request.method) \(webhook): \(error)"
      }
      if (200..<300).contains(response.status) { return nil }
      guard let next = Redirection.target(of: response, from: request.url) else {
        let why = (300..<400).contains(response.status) ? ", which points to another server" : ""
        return "\(request.method) \(webhook): answer \(response.status)\(why)"
      }
      redirections += 1
      guard redirections <= mostRedirections else {
        return "\(request.method) \(webhook): too many redirections"
      }
      request.url = next
    }
  }
}
