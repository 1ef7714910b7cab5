import CCurl

/// The bodies and headers of one request in progress, as libcurl's callbacks see them.
///
/// Confined to the worker's thread.
final class Transfer {
  private static let maximumHeaderBytes = 256 << 10

  private(set) var headers: [(name: String, value: String)] = []
  private(set) var received: [UInt8] = []
  private(set) var isTooLarge = false
  /// Seconds to pause the request because of the rate limit; 0 when it continues.
  private(set) var pause = 0.0
  /// Whether the empty line after the headers was received: libcurl accepts a truncated head as
  /// complete.
  private(set) var isHeadWhole = false

  private let body: [UInt8]
  private let maximumResponseBytes: Int
  private let rateLimiter: RateLimiter?
  private var position = 0
  private var headerBytes = 0
  private var bodyBytes = 0
  /// Number of bytes of the answer so far, its headers and answers that were followed by another
  /// included.
  var receivedBytes: Int { headerBytes + bodyBytes }
  /// Whether the request's body was handed over, so that only the answer is to come.
  var isSent: Bool { position == body.count }
  /// Whether libcurl and the system may still hold the end of the body.
  var mayBeSending: Bool { !body.isEmpty && receivedBytes == 0 }

  init(_ request: HTTPRequest, rateLimiter: RateLimiter?) {
    self.rateLimiter = rateLimiter
    body = request.body ?? []
    maximumResponseBytes = request.maximumResponseBytes
  }

  /// The transfer of a callback's context pointer.
  static func at(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Copies the next piece of the body; returns its length, or that libcurl should pause.
  func fill(_ target: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(target.count, body.count - position, rateLimiter?.piece ?? .max)
    guard mayMove(count) else { return Int(CURL_READFUNC_PAUSE) }
    target.copyBytes(from: body[position..<(position + count)])
    position += count
    return count
  }

  /// Seeks to a position of the body; returns false if it does not exist.
  func seek(to offset: Int) -> Bool {
    guard (0...body.count).contains(offset) else { return false }
    position = offset
    return true
  }

  /// Receives a piece of the answer; returns a number other than its length to end the request.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard received.count + bytes.count <= maximumResponseBytes else {
      isTooLarge = true
      return 0
    }
    guard mayMove(bytes.count) else { return Int(CURL_WRITEFUNC_PAUSE) }
    received.append(contentsOf: bytes)
    bodyBytes += bytes.count
    return bytes.count
  }

  /// Ends the pause.
  func resume() { pause = 0 }

  /// Requests tokens from the rate limiter for this many bytes of a body.
  private func mayMove(_ count: Int) -> Bool {
    guard let rateLimiter, count > 0 else { return true }
    pause = rateLimiter.acquire(count)
    return pause == 0
  }

  /// Receives one header line; returns a number other than its length to end the request.
  func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
    headerBytes += bytes.count
    guard headerBytes <= Self.maximumHeaderBytes else {
      isTooLarge = true
      return 0
    }
    let line = String(decoding: bytes, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // A new status line: the headers before belong to a 1xx, or to the answer of a repeated
      // request.
      headers = []
      received = []
      isHeadWhole = false
    } else if line == "\r\n" || line == "\n" {
      isHeadWhole = true
    } else if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop(while: isBlank)
      let end = value.lastIndex { !isBlank($0) }.map { value.index(after: $0) } ?? value.startIndex
      headers.append((name: String(line[..<colon]), value: String(value[..<end])))
      reserve(headers[headers.count - 1])
    }
    return bytes.count
  }

  /// Reserves memory for the whole answer if its length is stated and allowed.
  private func reserve(_ header: (name: String, value: String)) {
    guard header.name.lowercased() == "content-length", let length = Int(header.value),
      (1...maximumResponseBytes).contains(length)
    else { return }
    received.reserveCapacity(length)
  }
}

private func isBlank(_ character: Character) -> Bool {
  character.isWhitespace
}
