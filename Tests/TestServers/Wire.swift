import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One HTTP request as received on a connection.
package struct WireRequest: Sendable {
  /// Request line and header lines, without the empty line that ends them.
  package var head: String
  /// The body.
  package var body: [UInt8]

  /// The method, such as `PUT`.
  package var method: String { String(head.prefix { $0 != " " }) }
  /// The path and query as requested.
  package var target: String {
    let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
    return words.count > 1 ? String(words[1]) : ""
  }

  /// The same request with another value of a header field.
  func with(_ name: String, _ value: String) -> WireRequest {
    var lines = head.components(separatedBy: "\r\n")
    lines.removeAll { $0.lowercased().hasPrefix(name.lowercased() + ":") }
    lines.append("\(name): \(value)")
    return WireRequest(head: lines.joined(separator: "\r\n"), body: body)
  }

  /// The bytes that go over the connection.
  var bytes: [UInt8] { Array((head + "\r\n\r\n").utf8) + body }
}

/// HTTP over plain sockets, blocking: for separate threads.
enum Wire {
  /// Reads one request; nil if the connection ends before it is complete.
  static func request(from connection: CInt) -> WireRequest? {
    var bytes: [UInt8] = []
    var end: Int?
    var wanted = 0
    while true {
      let searched = max(0, bytes.count - 3)
      guard receive(&bytes, from: connection) else { return nil }
      if end == nil, let found = headEnd(bytes, from: searched) {
        end = found
        wanted = found + 4 + (length(String(decoding: bytes[..<found], as: UTF8.self)) ?? 0)
      }
      if let end, bytes.count >= wanted {
        return WireRequest(
          head: String(decoding: bytes[..<end], as: UTF8.self), body: Array(bytes[(end + 4)...]))
      }
    }
  }

  /// Reads until the other side closes.
  static func all(from connection: CInt) -> [UInt8] {
    var bytes: [UInt8] = []
    while receive(&bytes, from: connection) {}
    return bytes
  }

  /// Sends everything; false if the other side is gone.
  @discardableResult
  static func send(_ bytes: some Collection<UInt8>, to connection: CInt) -> Bool {
    let bytes = Array(bytes)
    var position = 0
    while position < bytes.count {
      let count = bytes[position...].withUnsafeBytes {
        systemSend(connection, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return false }
      position += count
    }
    return true
  }

  /// Ends a connection after an answer: a close with unread bytes would reset it before the answer
  /// is read.
  static func finish(_ connection: CInt) {
    shutdown(connection, CInt(SHUT_WR))
    _ = all(from: connection)
    close(connection)
  }

  /// Ends a connection like a crash: data in transit is lost.
  static func reset(_ connection: CInt) {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    close(connection)
  }

  /// The end of a message's head; nil if it is incomplete.
  static func headEnd(_ bytes: [UInt8], from start: Int = 0) -> Int? {
    guard bytes.count >= start + 4 else { return nil }
    return (start...(bytes.count - 4)).first {
      bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
    }
  }

  private static func length(_ head: String) -> Int? {
    head.components(separatedBy: "\r\n")
      .first { $0.lowercased().hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
  }

  private static func receive(_ bytes: inout [UInt8], from connection: CInt) -> Bool {
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = recv(connection, &piece, piece.count, 0)
    guard count > 0 else { return false }
    bytes += piece[..<count]
    return true
  }
}

/// The system's `send`, under a name that the static one above does not hide.
private func systemSend(_ connection: CInt, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
  #if canImport(Darwin)
    send(connection, start, count, 0)
  #else
    send(connection, start, count, CInt(MSG_NOSIGNAL))
  #endif
}
