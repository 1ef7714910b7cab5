// Puts objects with our transport, or in a bare loop of libcurl, and prints the seconds it took:
//
//   puts transport|bare URL USER:PASSWORD COUNT SIZE CONNECTIONS
//
// Started by `Scripts/bench --puts`, which compares the two.
import CCurl
import Foundation
import HTTPTransport
import ObjectStore
import Synchronization

/// The parameters of a run.
struct Puts: Sendable {
  let url: String
  let login: String
  let count: Int
  let body: [UInt8]
  let connections: Int

  init(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    guard words.count == 5, let count = Int(words[2]), let size = Int(words[3]),
      let connections = Int(words[4]), count > 0, size > 0, connections > 0
    else { throw Refusal("usage: puts transport|bare URL USER:PASSWORD COUNT SIZE CONNECTIONS") }
    (url, login, self.count, self.connections) = (words[0], words[1], count, connections)
    var generator = SystemRandomNumberGenerator()
    body = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// The next number for a connection; nil when none is left.
  private func number(_ next: borrowing Mutex<Int>) -> Int? {
    next.withLock { next in
      guard next < count else { return nil }
      defer { next += 1 }
      return next
    }
  }

  func overTransport() async throws {
    var options = HTTPTransport.Options()
    options.workers = connections
    let transport = HTTPTransport(options)
    let authorization = "Basic " + Data(login.utf8).base64EncodedString()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        if number >= connections { try await group.next() }
        group.addTask {
          let request = HTTPRequest(
            method: "PUT", url: "\(url)/\(number)",
            headers: [(name: "Authorization", value: authorization)], body: body)
          let response = try await transport.send(request)
          guard (200..<300).contains(response.status) else { throw Refusal("\(response.status)") }
        }
      }
      try await group.waitForAll()
    }
  }

  func inBareLoop() throws {
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { throw Refusal("libcurl") }
    let shared = Shared()
    let group = DispatchGroup()
    for _ in 0..<connections {
      group.enter()
      // Separate threads: a queue would run no more at once than there are cores.
      let thread = Thread {
        do {
          try connection { number(shared.next) }
        } catch {
          shared.failures.withLock { $0.append("\(error)") }
        }
        group.leave()
      }
      thread.start()
    }
    group.wait()
    if let first = shared.failures.withLock({ $0.first }) { throw Refusal(first) }
  }

  private final class Shared: Sendable {
    let next = Mutex(0)
    let failures = Mutex<[String]>([])
  }

  /// The position up to which libcurl has read the body.
  private final class Position {
    let bytes: UnsafeRawBufferPointer
    var offset = 0
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }
  }

  private func connection(_ number: () -> Int?) throws {
    guard let easy = curl_easy_init() else { throw Refusal("libcurl") }
    defer { curl_easy_cleanup(easy) }
    try body.withUnsafeBytes { bytes in
      let position = Position(bytes)
      let context = Unmanaged.passUnretained(position).toOpaque()
      let read = ccurl_setopt_io(easy, CURLOPT_READFUNCTION) { target, size, count, context in
        guard let context else { return Int(CURL_READFUNC_ABORT) }
        let position = Unmanaged<Position>.fromOpaque(context).takeUnretainedValue()
        let length = min(size * count, position.bytes.count - position.offset)
        guard let source = position.bytes.baseAddress, length > 0 else { return 0 }
        memcpy(target, source + position.offset, length)
        position.offset += length
        return length
      }
      let write = ccurl_setopt_io(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
      let options = [
        read, write, ccurl_setopt_ptr(easy, CURLOPT_READDATA, context),
        ccurl_setopt_str(easy, CURLOPT_USERPWD, login), ccurl_setopt_long(easy, CURLOPT_UPLOAD, 1),
        ccurl_setopt_long(easy, CURLOPT_NOSIGNAL, 1),
        ccurl_setopt_long(easy, CURLOPT_FAILONERROR, 1),
        ccurl_setopt_off(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(bytes.count)),
        ccurl_setopt_list(easy, CURLOPT_HTTPHEADER, curl_slist_append(nil, "Expect:")),
      ]
      guard options.allSatisfy({ $0 == CURLE_OK }) else { throw Refusal("libcurl's options") }
      while let number = number() {
        position.offset = 0
        let code = ccurl_setopt_str(easy, CURLOPT_URL, "\(url)/\(number)")
        guard code == CURLE_OK, curl_easy_perform(easy) == CURLE_OK else {
          throw Refusal("PUT \(number) failed")
        }
      }
    }
  }
}

/// Why nothing was measured.
struct Refusal: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

do {
  let puts = try Puts(CommandLine.arguments.dropFirst(2))
  let clock = ContinuousClock()
  let elapsed: Duration
  switch CommandLine.arguments[1] {
  case "transport": elapsed = try await clock.measure { try await puts.overTransport() }
  default: elapsed = try clock.measure { try puts.inBareLoop() }
  }
  print(Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18)
} catch {
  FileHandle.standardError.write(Data("puts: \(error)\n".utf8))
  exit(1)
}
