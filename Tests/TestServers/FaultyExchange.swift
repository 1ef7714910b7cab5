import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One request on its way through a `FaultProxy`.
struct FaultyExchange {
  let request: WireRequest
  /// The request's number at the proxy; determines where a bit is flipped.
  let number: Int
  /// The server's port.
  let port: UInt16

  /// Damages this exchange and ends the client's connection.
  ///
  /// Calls `note` before the client can notice, unless there was nothing to damage.
  func carryOut(_ fault: Fault, on client: CInt, note: () -> Void) {
    switch fault {
    case .held: return hold(client, note)
    case .flippedDownload: return flip(forward(), to: client, note)
    default: note()
    }
    switch fault {
    case .held, .flippedDownload: break
    case .resetBefore: Wire.reset(client)
    case .resetAfter:
      _ = forward()
      Wire.reset(client)
    case .serverError: answer("500 Internal Server Error", to: client)
    case .badGateway: answer("502 Bad Gateway", to: client)
    case .unavailable: answer("503 Service Unavailable", to: client)
    case .tooMany: answer("429 Too Many Requests", ["Retry-After: 0"], to: client)
    case .tooManyWait: answer("429 Too Many Requests", ["Retry-After: 1"], to: client)
    case .dropped: answer("200 OK", to: client)
    case .duplicate:
      _ = forward()
      pass(forward(), to: client)
    case .slow: slow(forward(), to: client)
    case .cutAnswer:
      let answer = forward()
      let head = Wire.headEnd(answer).map { $0 + 4 } ?? 0
      // Half of the body; of an answer without one, half of the head.
      pass(answer.prefix(head < answer.count ? (head + answer.count) / 2 : head / 2), to: client)
    case .flippedUpload:
      var damaged = request
      damaged.body[number % damaged.body.count] ^= 0x10
      pass(forward(damaged), to: client)
    case .cutUpload:
      forwardHalf()
      Wire.reset(client)
    case .halfStored:
      var half = request
      half.body.removeLast((half.body.count + 1) / 2)
      pass(forward(half.with("Content-Length", "\(half.body.count)")), to: client)
    }
  }

  /// The server's whole answer; empty if there is none.
  func forward() -> [UInt8] { forward(request) }

  private func forward(_ request: WireRequest) -> [UInt8] {
    guard let server = Port.connect(port) else { return [] }
    defer { close(server) }
    guard Wire.send(request.with("Connection", "close").bytes, to: server) else { return [] }
    return Wire.all(from: server)
  }

  /// Breaks off in the middle of the body, and waits until the server has handled that.
  private func forwardHalf(meanwhile: () -> Void = {}) {
    guard let server = Port.connect(port) else { return }
    let whole = request.with("Connection", "close").bytes
    Wire.send(whole.dropLast((request.body.count + 1) / 2), to: server)
    meanwhile()
    Wire.finish(server)
  }

  /// Forwards half of an upload or of an answer, and waits for the client to hang up.
  private func hold(_ client: CInt, _ note: () -> Void) {
    func wait() {
      note()
      _ = Wire.all(from: client)
    }
    if request.method == "PUT" {
      forwardHalf(meanwhile: wait)
    } else {
      let answer = forward()
      Wire.send(answer.prefix(answer.count / 2), to: client)
      wait()
    }
    close(client)
  }

  private func flip(_ answer: [UInt8], to client: CInt, _ note: () -> Void) {
    var answer = answer
    let body = Wire.headEnd(answer).map { $0 + 4 } ?? answer.count
    let isObject = answer.starts(with: Array("HTTP/1.1 20".utf8)) && body < answer.count
    if isObject {
      answer[body + number % (answer.count - body)] ^= 0x10
      note()
    }
    pass(answer, to: client)
  }

  private func slow(_ answer: [UInt8], to client: CInt) {
    let piece = max(1, answer.count / 4)
    for start in stride(from: 0, to: answer.count, by: piece) {
      Wire.send(answer[start..<min(start + piece, answer.count)], to: client)
      poll(nil, 0, 2)
    }
    Wire.finish(client)
  }

  private func answer(_ status: String, _ headers: [String] = [], to client: CInt) {
    let lines = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: 0", "Connection: close"]
    pass(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8), to: client)
  }

  private func pass(_ bytes: some Collection<UInt8>, to client: CInt) {
    Wire.send(bytes, to: client)
    Wire.finish(client)
  }
}
