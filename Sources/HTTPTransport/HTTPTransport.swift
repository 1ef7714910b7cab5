import Foundation
package import Logging
import Platform

/// Sends HTTP requests with libcurl, each on a thread of its own pool.
///
/// A worker is a thread with one connection that it reuses; workers start when needed. All blocking
/// calls run on them instead of the cooperative pool. Cancelling the task that waits for an answer
/// ends the request at once.
package final class HTTPTransport: Sendable {
  /// Options common to all requests of a transport.
  package struct Options: Sendable {
    /// Maximum number of concurrent requests.
    package var workers = 12
    /// Timeout for making a connection, name resolution included.
    package var connectTimeout = Duration.seconds(15)
    /// Time without a byte in either direction after which a request fails.
    ///
    /// An answer that goes on, but too slowly, fails as well; see ``AnswerPace``.
    package var stallTimeout = Duration.seconds(30)
    /// Seconds of a monotonic clock, which measures how fast answers arrive.
    package var clock = RateLimiter.monotonic
    /// The trusted authorities, and the client certificate.
    package var tls = TLS()
    /// The proxy's URL, including its login; nil to use the usual environment variables.
    ///
    /// Never used for loopback.
    package var proxy: String?
    /// The `User-Agent` to send.
    package var userAgent = "tidemark"
    /// Limits the bytes of bodies per second, for all workers together; nil for no limit.
    package var rateLimiter: RateLimiter?
    /// Number of requests after which all later ones fail with `exhausted`; nil for no limit.
    package var maximumRequests: Int?
    /// Logs each request at level debug, and everything that libcurl reports at level trace.
    package var logger = Logger.off
    /// Secrets that the log must not contain, besides the logins of proxy and requests.
    package var secrets: [String] = []
    /// Whether paths of URLs and values of all header fields are secrets, as for notifications.
    package var hasSecretTargets = false

    /// Makes the default options.
    package init() {}
  }

  private let options: Options
  private let sent = Guarded(0)
  private let queue = RequestQueue()
  private let hasMetThisMachine = Guarded(false)

  /// Makes a transport, without starting anything.
  package init(_ options: Options = Options()) {
    self.options = options
  }

  deinit {
    queue.close()
  }

  /// Ends the workers, and all requests in progress.
  ///
  /// Later requests fail as cancelled.
  package func shutdown() {
    queue.close()
  }

  /// Whether an answer so far came from this machine, be it a proxy's.
  package var reachesThisMachine: Bool { hasMetThisMachine.withLock(\.self) }

  /// Sends one request and reads its whole answer; an error status is an answer, too.
  ///
  /// Throws `TransportError`.
  package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try count()
    let handle = CancellationHandle()
    let queue = queue
    let response = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let job = RequestQueue.Job(request: request, handle: handle, continuation: continuation)
        queue.add(job, limit: max(1, options.workers), startWorker: startWorker)
      }
    } onCancel: {
      handle.cancel()
      queue.cancel(handle)
    }
    if response.isFromThisMachine { hasMetThisMachine.withLock { $0 = true } }
    return response
  }

  private func count() throws {
    guard let limit = options.maximumRequests else { return }
    let isWithin = sent.withLock { sent in
      sent += 1
      return sent <= limit
    }
    guard isWithin else {
      throw TransportError(.exhausted, "the \(limit) requests that were allowed have been sent")
    }
  }

  private func startWorker() {
    // The thread holds the queue, not the transport: releasing the transport ends the thread.
    let thread = Thread { [queue, options] in
      let connection = Connection(options)
      while let job = queue.next() {
        let result = Result {
          try connection.performLogged(job.request, handle: job.handle)
        }
        queue.finished(job.handle)
        job.continuation.resume(with: result)
      }
    }
    thread.name = "http"
    thread.start()
  }
}
