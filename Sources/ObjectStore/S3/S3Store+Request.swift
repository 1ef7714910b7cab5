import Foundation
import HTTPTransport

/// One request to S3 before it is addressed and signed.
struct S3Call {
  var method: String
  /// What messages call it.
  var operation: String
  /// The key, relative to the store's prefix; nil for the bucket itself.
  var key: String?
  var query: [(String, String)] = []
  var headers: [(name: String, value: String)] = []
  var body: [UInt8]?
}

extension S3Store {
  /// Sends a call; re-signs it once each when the service tells another region or another time.
  ///
  /// - Parameter accepting: Status codes beyond 2xx that are an answer.
  func perform(_ call: S3Call, accepting: Set<Int> = []) async throws -> HTTPResponse {
    var mayLearnRegion = true
    var mayLearnTime = true
    while true {
      let (region, offset) = learnt.withLock { ($0.region, $0.clockOffset) }
      let response = try await send(call, region: region, offset: offset)
      if accepting.contains(response.status) { return response }
      let isObject = call.method == "GET" && call.key != nil
      if (200..<300).contains(response.status), isObject || !S3Failure.isError(response) {
        return response
      }
      let failure = S3Failure(response)
      if mayLearnRegion, let better = self.region(failure, response, besides: region) {
        mayLearnRegion = false
        learnt.withLock { $0.region = better }
      } else if mayLearnTime, let better = self.offset(failure, response, besides: offset) {
        mayLearnTime = false
        learnt.withLock { $0.clockOffset = better }
      } else {
        throw failure.error(response, self.failure(call), bucket: bucket)
      }
    }
  }

  private func send(_ call: S3Call, region: String, offset: TimeInterval) async throws
    -> HTTPResponse
  {
    let (origin, path) = service.address(bucket, region: region)
    var target = path
    if let key = call.key {
      target += "/" + PercentEncoding.encode(fullKey(key), keepingSlash: true)
    } else {
      target += target.isEmpty || !call.query.isEmpty ? "/" : ""
    }
    if !call.query.isEmpty { target += "?" + SigV4Signer.canonicalQuery(call.query) }
    let host = String(origin.drop { $0 != "/" }.dropFirst(2))
    let signer = SigV4Signer(credentials: credentials, region: region)
    let signature = signer.sign(
      method: call.method, target: target,
      headers: [(name: "Host", value: host)] + call.headers,
      payloadHash: SigV4Signer.hash(call.body ?? []), date: now().addingTimeInterval(offset))
    let request = HTTPRequest(
      method: call.method, url: origin + target, headers: call.headers + signature.headers,
      body: call.body)
    do {
      return try await transport.send(request)
    } catch let error as TransportError {
      throw failure(call).error(error)
    }
  }

  /// The region to sign for instead, when the answer says that this one is wrong.
  private func region(_ failure: S3Failure, _ response: HTTPResponse, besides region: String)
    -> String?
  {
    guard [301, 307, 400, 403].contains(response.status), let better = failure.region,
      better != region, !better.isEmpty, better.utf8.count <= 64,
      better.utf8.allSatisfy({
        ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D
      })
    else { return nil }
    return better
  }

  /// The clock offset to sign with instead, when ours explains the refusal.
  ///
  /// A skewed clock is 403 RequestTimeTooSkewed with most, 400 or 403 AccessDenied with some, and
  /// a bare 403 on HEAD.
  private func offset(_ failure: S3Failure, _ response: HTTPResponse, besides offset: TimeInterval)
    -> TimeInterval?
  {
    guard response.status == 400 || response.status == 403, let theirs = failure.serverTime else {
      return nil
    }
    let better = theirs.timeIntervalSince(now())
    if failure.code == "RequestTimeTooSkewed" { return better }
    guard failure.code == nil || failure.code == "AccessDenied", abs(better - offset) > 300 else {
      return nil
    }
    return better
  }
}
