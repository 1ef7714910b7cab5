import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An HTTP server that gives prepared answers in turn, and records the requests.
package final class ScriptedServer: Sendable {
  /// The server's URL, without a slash at the end.
  package let url: String
  private let listener: Listener
  private let requests = Box()

  /// Requests, behind a lock.
  private final class Box: @unchecked Sendable {
    // Unchecked: `value` is only accessed while `lock` is held.
    private let lock = NSLock()
    private var value: [WireRequest] = []
    func append(_ request: WireRequest) { lock.withLock { value.append(request) } }
    var all: [WireRequest] { lock.withLock { value } }
  }

  /// Starts a server.
  ///
  /// - Parameter answers: Whole answers from the status line on, with `\n` for line ends; without
  ///   any, the server accepts connections and never answers.
  package init(_ answers: [String] = []) throws {
    listener = try Listener()
    url = "http://127.0.0.1:\(listener.port)"
    guard !answers.isEmpty else { return }
    let thread = Thread { [listener, requests] in
      for answer in answers {
        guard let connection = listener.accept() else { return }
        requests.append(Wire.request(from: connection) ?? WireRequest(head: "", body: []))
        Self.write(answer, to: connection)
      }
    }
    thread.start()
  }

  /// Starts a server that gives one endless answer: a head, and a piece repeated until the client
  /// stops reading.
  ///
  /// - Parameters:
  ///   - head: Sent once, with `\r\n` for line ends.
  ///   - piece: Sent repeatedly.
  package init(head: String, endlessly piece: String) throws {
    listener = try Listener()
    url = "http://127.0.0.1:\(listener.port)"
    let many = Array(String(repeating: piece, count: max(1, 16384 / piece.utf8.count)).utf8)
    Thread { [listener, requests] in
      guard let connection = listener.accept() else { return }
      requests.append(Wire.request(from: connection) ?? WireRequest(head: "", body: []))
      Wire.send(head.utf8, to: connection)
      while Wire.send(many, to: connection) {}
      close(connection)
    }.start()
  }

  deinit { listener.stop() }

  /// The requests so far.
  package var received: [WireRequest] { requests.all }

  /// Waits for a connection to a server without answers; false if there is none.
  ///
  /// Waits on a separate thread: the request that connects may need the calling one.
  package func waitForConnection() async -> Bool {
    let listener = listener
    return await withCheckedContinuation { continuation in
      Thread {
        continuation.resume(returning: listener.waits(milliseconds: Patience.milliseconds))
      }.start()
    }
  }

  /// An answer with a body and its length.
  package static func answer(_ status: String, headers: [String] = [], body: String = "") -> String
  {
    let lines = ["HTTP/1.1 \(status)"] + headers
    return (lines + ["Content-Length: \(body.utf8.count)", "Connection: close", "", body])
      .joined(separator: "\n")
  }

  private static func write(_ answer: String, to connection: CInt) {
    // Only the head's line ends are changed for HTTP.
    let end = answer.range(of: "\n\n")
    let head = end.map { answer[..<$0.upperBound] } ?? answer[...]
    let body = end.map { answer[$0.upperBound...] } ?? ""
    Wire.send((head.replacingOccurrences(of: "\n", with: "\r\n") + body).utf8, to: connection)
    Wire.finish(connection)
  }
}
