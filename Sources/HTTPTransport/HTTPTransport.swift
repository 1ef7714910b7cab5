import Foundation
package import Logging
import Platform

/// Sends HTTP requests over libcurl, each on a thread of its own pool.
///
/// A worker is a thread with one connection that it reuses; workers start when they are needed.
/// They, and not the cooperative pool, do all that blocks. Cancelling the task that waits for an
/// answer ends the request at once.
package final class HTTPTransport: Sendable {
  /// What is the same for all requests of a transport.
  package struct Options: Sendable {
    /// How many requests may run at once.
    package var workers = 12
    /// How long a connection may take to be made, name look-up included.
    package var connectTimeout = Duration.seconds(15)
    /// The time without a byte in either direction after which a request fails.
    package var stallTimeout = Duration.seconds(30)
    /// Whom to trust, and as whom to appear.
    package var tls = TLS()
    /// The proxy's URL, its login in it; nil takes the usual environment variables.
    ///
    /// Never used for loopback.
    package var proxy: String?
    /// The `User-Agent` to send.
    package var userAgent = "tidemark"
    /// What bounds the bytes of bodies a second, of all workers together; nil for no bound.
    package var pace: Pace?
    /// How many requests go out before all later ones fail with `exhausted`; nil for no bound.
    package var maximumRequests: Int?
    /// Hears of each request at level debug, and of all that libcurl reports at level trace.
    package var logger = Logger.off
    /// What no line of the log may hold, besides the logins of proxy and requests.
    package var secrets: [String] = []

    /// Makes the default options.
    package init() {}
  }

  private let options: Options
  private let sent = Guarded(0)
  private let queue = RequestQueue()

  /// Makes a transport; starts nothing.
  package init(_ options: Options = Options()) {
    self.options = options
  }

  deinit {
    queue.close()
  }

  /// Ends the workers, and with them all requests under way.
  ///
  /// Later requests fail as cancelled.
  package func shutdown() {
    queue.close()
  }

  /// Sends one request and reads its whole answer, whatever its status.
  ///
  /// Throws `TransportError`.
  package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try count()
    let ticket = Ticket()
    let queue = queue
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let job = RequestQueue.Job(request: request, ticket: ticket, continuation: continuation)
        queue.add(job, limit: max(1, options.workers), startWorker: startWorker)
      }
    } onCancel: {
      ticket.cancel()
      queue.cancel(ticket)
    }
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
    // The thread holds the queue, not the transport: dropping the transport ends it.
    let thread = Thread { [queue, options] in
      let connection = Connection(options)
      while let job = queue.next() {
        let result = Result {
          try connection.performLogged(job.request, ticket: job.ticket, options.logger)
        }
        queue.finished(job.ticket)
        job.continuation.resume(with: result)
      }
    }
    thread.name = "http"
    thread.start()
  }
}
