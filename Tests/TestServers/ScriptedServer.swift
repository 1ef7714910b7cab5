import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An HTTP server that gives prepared answers in turn, and remembers what it was asked.
public final class ScriptedServer: Sendable {
  /// One request as it came.
  public struct Request: Sendable {
    /// Request line and header lines.
    public let head: String
    /// The body.
    public let body: [UInt8]
  }

  /// The server's URL, without a slash at the end.
  public let url: String
  private let listener: CInt
  private let requests = Box()

  /// Requests, behind a lock.
  private final class Box: @unchecked Sendable {
    // Unchecked: `value` is only touched while `lock` is held.
    private let lock = NSLock()
    private var value: [Request] = []
    func append(_ request: Request) { lock.withLock { value.append(request) } }
    var all: [Request] { lock.withLock { value } }
  }

  /// Starts a server.
  ///
  /// - Parameter answers: Whole answers from the status line on, line ends as `\n`; with none the
  ///   server accepts connections and never answers.
  public init(_ answers: [String] = []) throws {
    let (raw, port) = try Port.listen()
    listener = raw
    url = "http://127.0.0.1:\(port)"
    guard !answers.isEmpty else { return }
    let thread = Thread { [requests] in
      for answer in answers {
        let connection = accept(raw, nil, nil)
        guard connection >= 0 else { return }
        requests.append(Self.read(connection))
        Self.write(answer, to: connection)
        close(connection)
      }
    }
    thread.start()
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    close(listener)
  }

  /// What was asked so far.
  public var received: [Request] { requests.all }

  /// Waits for a connection to a server without answers; false after ten seconds.
  ///
  /// Waits on a thread of its own: the request that connects may need the one that asks.
  public func waitForConnection() async -> Bool {
    let listener = listener
    return await withCheckedContinuation { continuation in
      Thread {
        var wanted = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        continuation.resume(returning: poll(&wanted, 1, 60_000) == 1)
      }.start()
    }
  }

  /// An answer with a body and its length.
  public static func answer(_ status: String, headers: [String] = [], body: String = "") -> String {
    let lines = ["HTTP/1.1 \(status)"] + headers
    return (lines + ["Content-Length: \(body.utf8.count)", "Connection: close", "", body])
      .joined(separator: "\n")
  }

  private static func read(_ connection: CInt) -> Request {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      if let end = headEnd(bytes) {
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let length = head.split(separator: "\r\n")
          .first { $0.lowercased().hasPrefix("content-length:") }
          .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
        let body = Array(bytes[(end + 4)...])
        if body.count >= length ?? 0 { return Request(head: head, body: body) }
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return Request(head: "", body: bytes) }
      bytes += buffer[..<count]
    }
  }

  private static func headEnd(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { Array(bytes[$0..<($0 + 4)]) == [13, 10, 13, 10] }
  }

  private static func write(_ answer: String, to connection: CInt) {
    // Only the head's line ends are HTTP's affair.
    let end = answer.range(of: "\n\n")
    let head = end.map { answer[..<$0.upperBound] } ?? answer[...]
    let body = end.map { answer[$0.upperBound...] } ?? ""
    let bytes = Array((head.replacingOccurrences(of: "\n", with: "\r\n") + body).utf8)
    var position = 0
    while position < bytes.count {
      let count = bytes[position...].withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      position += count
    }
    // A close with unread bytes would reset the connection before the answer is read.
    shutdown(connection, CInt(SHUT_WR))
    var rest = [UInt8](repeating: 0, count: 4096)
    while recv(connection, &rest, rest.count, 0) > 0 {}
  }
}
