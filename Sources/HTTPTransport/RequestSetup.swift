import CCurl
import Foundation
import Platform

/// Configures an easy handle for a request, conservatively, so that every server accepts it.
struct RequestSetup {
  let easy: OpaquePointer
  let options: HTTPTransport.Options

  /// Sets every option; returns the header list, to be freed after the request.
  func apply(
    _ request: HTTPRequest, _ transfer: Transfer, errorText: UnsafeMutablePointer<CChar>
  ) throws(TransportError) -> UnsafeMutablePointer<curl_slist>? {
    try check(ccurl_setopt_ptr(easy, CURLOPT_ERRORBUFFER, errorText))
    try connection(request)
    try tls(options.tls)
    try limits()
    try message(request)
    try callbacks(transfer)
    return try headers(request)
  }

  func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
    try check(ccurl_setopt_long(easy, option, value))
  }

  func set(_ option: CURLoption, _ value: String) throws(TransportError) {
    guard !value.utf8.contains(0) else { throw TransportError(.invalidURL, "a text holds NUL") }
    try check(ccurl_setopt_str(easy, option, value))
  }

  private func connection(_ request: HTTPRequest) throws(TransportError) {
    try set(CURLOPT_URL, request.url)
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    try set(CURLOPT_NOSIGNAL, 1)
    try set(CURLOPT_TCP_NODELAY, 1)
    try check(ccurl_keep_sockets(easy))
    // Without it, a cancelled request waits for the system's name resolution to finish.
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_USERAGENT, options.userAgent)
    // A proxy's answer to CONNECT is not part of the server's answer.
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Unencrypted traffic to this machine must not leave it through a proxy.
    if request.url.hasPrefix("http://"), Loopback.isHost(of: request.url) {
      try set(CURLOPT_PROXY, "")
    } else if let proxy = options.proxy {
      try set(CURLOPT_PROXY, proxy)
    }
  }

  private func limits() throws(TransportError) {
    let connect = max(.milliseconds(1), min(options.connectTimeout, .days(1)))
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(connect.milliseconds))
    // Limit the time without progress instead of the total time: a large body over a slow line is
    // legitimate.
    try set(CURLOPT_LOW_SPEED_LIMIT, 1)
    let stall = max(.seconds(1), min(options.stallTimeout, .days(1)))
    try set(CURLOPT_LOW_SPEED_TIME, Int((stall / .seconds(1)).rounded(.up)))
  }

  private func message(_ request: HTTPRequest) throws(TransportError) {
    if let body = request.body {
      try set(CURLOPT_UPLOAD, 1)
      try check(ccurl_setopt_off(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.count)))
    } else if request.method == "HEAD" {
      try set(CURLOPT_NOBODY, 1)
    } else {
      try set(CURLOPT_HTTPGET, 1)
    }
    if request.method != "HEAD" { try set(CURLOPT_CUSTOMREQUEST, request.method) }
  }

  private func callbacks(_ transfer: Transfer) throws(TransportError) {
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    try check(ccurl_setopt_ptr(easy, CURLOPT_READDATA, context))
    try check(ccurl_setopt_ptr(easy, CURLOPT_SEEKDATA, context))
    try check(ccurl_setopt_ptr(easy, CURLOPT_WRITEDATA, context))
    try check(ccurl_setopt_ptr(easy, CURLOPT_HEADERDATA, context))
    let read = ccurl_setopt_io(easy, CURLOPT_READFUNCTION) { target, size, count, context in
      Transfer.at(context)?.fill(UnsafeMutableRawBufferPointer(start: target, count: size * count))
        ?? Int(CURL_READFUNC_ABORT)
    }
    try check(read)
    // libcurl rewinds the body after a reused connection turned out to be dead, and after a 401.
    let seek = ccurl_setopt_seek(easy) { context, offset, origin in
      guard origin == SEEK_SET, Transfer.at(context)?.seek(to: Int(offset)) == true else {
        return CURL_SEEKFUNC_FAIL
      }
      return CURL_SEEKFUNC_OK
    }
    try check(seek)
    let write = ccurl_setopt_io(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      Transfer.at(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
    }
    try check(write)
    let header = ccurl_setopt_io(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return Transfer.at(context)?.receiveHeader(line) ?? 0
    }
    try check(header)
  }

  private func headers(_ request: HTTPRequest) throws(TransportError) -> UnsafeMutablePointer<
    curl_slist
  >? {
    // An empty Expect: do not request 100 Continue, which some servers answer late or never.
    var list = curl_slist_append(nil, "Expect:")
    for (name, value) in request.headers {
      let isSound = !name.isEmpty && !(name + value).utf8.contains { $0 < 0x20 || $0 == 0x7F }
      let next =
        isSound ? curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)") : nil
      guard let next else {
        curl_slist_free_all(list)
        throw TransportError(
          .invalidHeader, "the header \(name.prefix(40).debugDescription) is not valid")
      }
      list = next
    }
    let code = ccurl_setopt_list(easy, CURLOPT_HTTPHEADER, list)
    guard code == CURLE_OK else {
      curl_slist_free_all(list)
      throw TransportError(.other, String(cString: curl_easy_strerror(code)))
    }
    return list
  }
}
