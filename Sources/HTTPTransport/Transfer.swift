import CCurl

/// The bodies and headers of one request under way, as libcurl's callbacks see them.
///
/// Confined to the worker's thread.
final class Transfer {
  private static let maximumHeaderBytes = 256 << 10

  private(set) var headers: [(name: String, value: String)] = []
  private(set) var received: [UInt8] = []
  private(set) var isTooLarge = false
  /// How many seconds to leave the request alone, because the pace asks for it; 0 when it goes on.
  private(set) var pause = 0.0
  /// Whether the empty line after the headers has come: libcurl takes a head that breaks off for a
  /// whole one.
  private(set) var isHeadWhole = false

  private let body: [UInt8]
  private let maximumResponseBytes: Int
  private let pace: Pace?
  private var position = 0
  private var headerBytes = 0

  init(_ request: HTTPRequest, pace: Pace?) {
    self.pace = pace
    body = request.body ?? []
    maximumResponseBytes = request.maximumResponseBytes
  }

  /// The transfer that a callback's context pointer means.
  static func at(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Copies the next piece of the body; returns its length, or that libcurl is to wait.
  func fill(_ target: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(target.count, body.count - position, pace?.piece ?? .max)
    guard mayMove(count) else { return Int(CURL_READFUNC_PAUSE) }
    target.copyBytes(from: body[position..<(position + count)])
    position += count
    return count
  }

  /// Goes to a position of the body; false when there is none such.
  func seek(to offset: Int) -> Bool {
    guard (0...body.count).contains(offset) else { return false }
    position = offset
    return true
  }

  /// Takes a piece of the answer; returns another number than its length to end the request.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard received.count + bytes.count <= maximumResponseBytes else {
      isTooLarge = true
      return 0
    }
    guard mayMove(bytes.count) else { return Int(CURL_WRITEFUNC_PAUSE) }
    received.append(contentsOf: bytes)
    return bytes.count
  }

  /// Notes that the pause is over.
  func resume() { pause = 0 }

  /// Asks the pace for so many bytes of a body.
  private func mayMove(_ count: Int) -> Bool {
    guard let pace, count > 0 else { return true }
    pause = pace.take(count)
    return pause == 0
  }

  /// Takes one header line; returns another number than its length to end the request.
  func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
    headerBytes += bytes.count
    guard headerBytes <= Self.maximumHeaderBytes else {
      isTooLarge = true
      return 0
    }
    let line = String(decoding: bytes, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // A new status line: what came before was a 1xx or the answer to a repeated request.
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

  /// Makes room for the whole answer at once, where its length is told and allowed.
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
