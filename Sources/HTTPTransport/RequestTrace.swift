import CCurl
import Logging

/// Logs libcurl's reports about the requests of one connection, at level trace.
///
/// Confined to the worker's thread; lives as long as the connection's handles, which may report
/// until they are closed.
final class RequestTrace {
  private let logger: Logger
  private let secrets: [String]
  private let hasSecretTargets: Bool
  private var lines = TraceLines(SecretMask())

  /// Makes a trace; nil if the logger's level excludes it.
  init?(_ options: HTTPTransport.Options) {
    guard options.logger.logLevel <= .trace else { return nil }
    logger = options.logger
    hasSecretTargets = options.hasSecretTargets
    secrets = options.secrets + (options.proxy.map(SecretMask.secrets(inURL:)) ?? [])
  }

  /// Makes a handle report a request.
  func begin(_ request: HTTPRequest, _ easy: OpaquePointer) throws(TransportError) {
    let own =
      hasSecretTargets
      ? SecretMask.secrets(of: request) : SecretMask.secrets(in: request.headers)
    lines = TraceLines(SecretMask(known: secrets + own))
    let context = Unmanaged.passUnretained(self).toOpaque()
    try check(ccurl_setopt_ptr(easy, CURLOPT_DEBUGDATA, context))
    let debug = ccurl_setopt_debug(easy) { _, kind, bytes, count, context in
      let trace = context.map { Unmanaged<RequestTrace>.fromOpaque($0).takeUnretainedValue() }
      trace?.report(kind, UnsafeRawBufferPointer(start: bytes, count: count))
      return 0
    }
    try check(debug)
    try check(ccurl_setopt_long(easy, CURLOPT_VERBOSE, 1))
  }

  /// Logs the unfinished lines at the end of a request.
  func end() { log(lines.finish()) }

  private func report(_ kind: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
    switch kind {
    case CURLINFO_TEXT: log(lines.add(.note, bytes))
    case CURLINFO_HEADER_OUT: log(lines.add(.sent, bytes))
    case CURLINFO_HEADER_IN: log(lines.add(.received, bytes))
    case CURLINFO_DATA_OUT: lines.addBody(.sent, bytes.count)
    case CURLINFO_DATA_IN: lines.addBody(.received, bytes.count)
    // Encrypted data is not informative.
    default: break
    }
  }

  private func log(_ lines: [String]) {
    for line in lines { logger.trace("\(line)") }
  }
}
