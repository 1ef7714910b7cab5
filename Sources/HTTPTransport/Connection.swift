import CCurl
import Foundation

/// One worker's libcurl handles: an easy handle and the private multi handle that drives it.
///
/// Confined to the worker's thread.
final class Connection {
  private static let isInitialised: Bool = {
    ccurl_give_back_bodies()
    return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()

  let options: HTTPTransport.Options
  private let trace: RequestTrace?
  private let easy: OpaquePointer?
  private let multi: OpaquePointer?
  /// The buffer for libcurl's message; libcurl keeps the address, so it cannot be an array.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(_ options: HTTPTransport.Options) {
    self.options = options
    trace = RequestTrace(options)
    easy = Self.isInitialised ? curl_easy_init() : nil
    multi = Self.isInitialised ? curl_multi_init() : nil
  }

  deinit {
    if let easy { curl_easy_cleanup(easy) }
    if let multi { curl_multi_cleanup(multi) }
    errorText.deallocate()
  }

  /// Sends one request and blocks until its answer is complete or the handle is cancelled.
  func perform(_ request: HTTPRequest, handle: CancellationHandle) throws(TransportError)
    -> HTTPResponse
  {
    guard let easy, let multi else { throw TransportError(.other, "libcurl does not start") }
    let transfer = Transfer(request, rateLimiter: options.rateLimiter)
    errorText[0] = 0
    curl_easy_reset(easy)
    let setup = RequestSetup(easy: easy, options: options)
    let headers = try setup.apply(request, transfer, errorText: errorText)
    defer { curl_slist_free_all(headers) }
    try trace?.begin(request, easy)
    defer { trace?.end() }

    let result = try withExtendedLifetime(transfer) { () throws(TransportError) in
      try drive(easy, multi, transfer, handle)
    }
    if result == CURLE_OK {
      guard transfer.isHeadWhole else {
        throw TransportError(.interrupted, "the answer broke off in its head")
      }
      var status = 0
      try check(ccurl_getinfo_long(easy, CURLINFO_RESPONSE_CODE, &status))
      var response = HTTPResponse(
        status: status, headers: transfer.headers, body: transfer.received)
      response.isFromThisMachine = PeerAddress.isOnThisMachine(
        try address(CURLINFO_PRIMARY_IP, easy), from: try address(CURLINFO_LOCAL_IP, easy))
      return response
    }
    if transfer.isTooLarge {
      throw TransportError(.tooLarge, "the answer is larger than the request allows")
    }
    if !transfer.isHeadWhole, Self.linesTooLong.contains(result.rawValue) {
      throw TransportError(.tooLarge, "a line of the answer's head is too long")
    }
    let text = String(cString: errorText)
    var proxyStatus = 0
    try check(ccurl_getinfo_long(easy, CURLINFO_HTTP_CONNECTCODE, &proxyStatus))
    throw TransportError(
      result, text.isEmpty ? String(cString: curl_easy_strerror(result)) : text,
      proxyStatus: proxyStatus)
  }

  /// How libcurl refuses a line of more than 100 KiB in a head: up to 8.5 as a lack of memory, later
  /// with `CURLE_TOO_LARGE`.
  private static let linesTooLong = [CURLE_OUT_OF_MEMORY.rawValue, 100]

  private func address(_ info: CURLINFO, _ easy: OpaquePointer) throws(TransportError) -> String {
    var text: UnsafePointer<CChar>?
    try check(ccurl_getinfo_string(easy, info, &text))
    return text.map { String(cString: $0) } ?? ""
  }

  private func drive(
    _ easy: OpaquePointer, _ multi: OpaquePointer, _ transfer: Transfer,
    _ handle: CancellationHandle
  ) throws(TransportError) -> CURLcode {
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
      throw TransportError(.other, "libcurl does not take the request")
    }
    handle.drive(with: multi)
    // The connection is made meanwhile.
    var pace = AnswerPace(stallTimeout: max(options.stallTimeout, options.connectTimeout))
    defer {
      handle.drive(with: nil)
      curl_multi_remove_handle(multi, easy)
    }
    var running: CInt = 1
    while true {
      if handle.isCancelled { throw TransportError(.cancelled, "the request was cancelled") }
      guard curl_multi_perform(multi, &running) == CURLM_OK else {
        throw TransportError(.other, "libcurl fails to drive the request")
      }
      var result = CURLE_OK
      if ccurl_next_done(multi, &result) != 0 { return result }
      if !transfer.isSent || transfer.pause > 0 {
        pace.restart()
      } else if pace.isTooSlow(
        received: transfer.receivedBytes, at: options.clock(), over: transfer.mayBeSending ? 10 : 1)
      {
        throw TransportError(.timedOut, pace.problem)
      }
      // A cancellation since the check above has left a wake-up: then this returns at once.
      let wait = transfer.pause > 0 ? min(transfer.pause, 1) : 1
      guard curl_multi_poll(multi, nil, 0, CInt((wait * 1000).rounded(.up)), nil) == CURLM_OK else {
        throw TransportError(.other, "libcurl fails to wait")
      }
      if transfer.pause > 0 {
        transfer.resume()
        // May call back at once, and pause again.
        try check(curl_easy_pause(easy, CURLPAUSE_CONT))
      }
    }
  }
}

/// Throws unless a libcurl call succeeded.
func check(_ code: CURLcode) throws(TransportError) {
  guard code == CURLE_OK else {
    throw TransportError(.other, String(cString: curl_easy_strerror(code)))
  }
}
