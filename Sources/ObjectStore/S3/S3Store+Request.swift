import Foundation
import HTTPTransport
import Platform

extension S3Store {
  /// The corrections of a refused request; each is tried once.
  enum Remedy: CaseIterable { case region, clock, redirect, key, explanation }

  /// An answer, and the header fields of its request.
  struct Answer {
    let response: HTTPResponse
    fileprivate let sent: [(name: String, value: String)]
    fileprivate let key: S3Credentials

    /// The secrets of the request and of its key.
    var secrets: [String] { S3Store.secrets(sent, key) }
  }

  private static func secrets(
    _ sent: [(name: String, value: String)], _ key: S3Credentials
  ) -> [String] {
    SecretMask.secrets(in: sent) + [key.secretAccessKey] + [key.sessionToken].compactMap(\.self)
  }

  /// The response to a call; see ``answer(to:accepting:)``.
  func perform(_ call: S3Call, accepting: Set<Int> = []) async throws -> HTTPResponse {
    try await answer(to: call, accepting: accepting).response
  }

  /// Sends a call; signs it again, once each, if the service names another region or time,
  /// redirects, or no longer accepts the key.
  ///
  /// - Parameter accepting: Status codes beyond 2xx that are not errors.
  func answer(to call: S3Call, accepting: Set<Int> = []) async throws -> Answer {
    var left = Set(Remedy.allCases)
    var signing = try await signing()
    while true {
      var answer = try await send(call, signing)
      let response = answer.response
      if accepting.contains(response.status) { return answer }
      let isObject = call.method == "GET" && call.key != nil
      if (200..<300).contains(response.status), isObject || !S3Failure.isError(response) {
        guard isObject || !response.isWebPage else {
          throw self.failure(call, hiding: answer.secrets).garbage(response, "a web page")
        }
        return answer
      }
      var failure = S3Failure(response)
      if let told = try await explanation(of: response, to: call, failure, signing, &left) {
        answer = told
        failure = S3Failure(told.response)
      }
      guard let better = try await remedied(signing, failure, answer.response, &left) else {
        throw failure.error(
          answer.response, self.failure(call, hiding: answer.secrets), bucket: bucket)
      }
      signing = better
    }
  }

  /// The key, region and time to sign with.
  private func signing() async throws -> S3Signing {
    let key = try await credentials.credentials()
    let (region, offset) = learnt.withLock { ($0.region, $0.clockOffset) }
    return S3Signing(key: key, region: region, clockOffset: offset)
  }

  private func send(_ call: S3Call, _ signing: S3Signing) async throws -> Answer {
    var (origin, target) = service.address(bucket, region: signing.region)
    if let route = signing.route { (origin, target) = (route.origin, route.path) }
    if let key = call.key {
      target += "/" + PercentEncoding.encode(fullKey(key), keepingSlash: true)
    } else {
      target += target.isEmpty || !call.query.isEmpty ? "/" : ""
    }
    if !call.query.isEmpty { target += "?" + SigV4Signer.canonicalQuery(call.query) }
    let host = String(origin.drop { $0 != "/" }.dropFirst(2))
    let signer = SigV4Signer(
      credentials: signing.key, region: signing.route?.region ?? signing.region)
    let signature = signer.sign(
      method: call.method, target: target,
      headers: [(name: "Host", value: host)] + call.headers,
      payloadHash: SigV4Signer.hash(call.body ?? []),
      date: now().asServer(offset: signing.clockOffset))
    var request = HTTPRequest(
      method: call.method, url: origin + target, headers: call.headers + signature.headers,
      body: call.body)
    if let limit = call.responseLimit { request.maximumResponseBytes = limit }
    do {
      return Answer(
        response: try await transport.send(request), sent: request.headers, key: signing.key)
    } catch let error as TransportError {
      throw failure(call, hiding: Self.secrets(request.headers, signing.key)).error(error)
    }
  }

  /// The answer to an equivalent request with a body; nil if there is none.
  ///
  /// An error of HEAD has no body: a minimal GET explains it.
  private func explanation(
    of response: HTTPResponse, to call: S3Call, _ failure: S3Failure, _ signing: S3Signing,
    _ left: inout Set<Remedy>
  ) async throws -> Answer? {
    guard [301, 307, 400, 403].contains(response.status), failure.code == nil,
      region(failure, response, besides: signing.region) == nil,
      offset(failure, response, besides: signing.clockOffset) == nil,
      let speaking = call.speaking, left.remove(.explanation) != nil
    else { return nil }
    let told = try await send(speaking, signing)
    return told.response.status >= 300 && S3Failure(told.response).code != nil ? told : nil
  }

  /// The corrected signing parameters; nil if no correction is left.
  private func remedied(
    _ signing: S3Signing, _ failure: S3Failure, _ response: HTTPResponse,
    _ left: inout Set<Remedy>
  ) async throws -> S3Signing? {
    var better = signing
    let action = failure.action(response)
    if action == .redirectOnce {
      let origin = service.address(bucket, region: signing.region).origin
      guard left.remove(.redirect) != nil, let location = failure.location,
        let route = S3Route(location, bucket: bucket, from: origin)
      else { return nil }
      better.route = route
      return better
    }
    if left.contains(.region),
      let region = try await self.region(action, failure, response, signing)
    {
      left.remove(.region)
      learnt.withLock { $0.region = region }
      better.region = region
      better.route = nil
      return better
    }
    if left.contains(.clock),
      let offset = offset(failure, response, besides: signing.clockOffset)
    {
      left.remove(.clock)
      learnt.withLock { $0.clockOffset = offset }
      better.clockOffset = offset
      return better
    }
    let isRefused = action == .reauth || failure.code == "InvalidAccessKeyId"
    if isRefused, left.remove(.key) != nil,
      let key = await credentials.replacement(for: signing.key)
    {
      better.key = key
      return better
    }
    return nil
  }

  /// The region to sign for instead; if the answer omits it, the bucket itself is asked.
  private func region(
    _ action: S3Action?, _ failure: S3Failure, _ response: HTTPResponse, _ signing: S3Signing
  ) async throws -> String? {
    if let told = region(failure, response, besides: signing.region) { return told }
    guard action == .fixRegion, failure.region == nil, response.header("Location") == nil,
      S3AccessPoint(bucket) == nil
    else { return nil }
    let answer = try await send(S3Call(method: "HEAD", operation: "HEAD"), signing).response
    return region(S3Failure(answer), answer, besides: signing.region, anyStatus: true)
  }

  /// The region to sign for instead, if the answer says that this one is wrong.
  private func region(
    _ failure: S3Failure, _ response: HTTPResponse, besides region: String, anyStatus: Bool = false
  ) -> String? {
    guard anyStatus || [301, 307, 400, 403].contains(response.status),
      S3AccessPoint(bucket) == nil, let better = failure.region?.lowercased(), better != region,
      S3Service.isRegion(better)
    else { return nil }
    return better
  }

  /// The clock offset to sign with instead, if a wrong clock explains the refusal.
  ///
  /// A skewed clock causes 403 RequestTimeTooSkewed with most services, 400 or 403 AccessDenied
  /// with some, and a bare 403 on HEAD.
  private func offset(_ failure: S3Failure, _ response: HTTPResponse, besides offset: Duration)
    -> Duration?
  {
    guard response.status == 400 || response.status == 403, let theirs = failure.serverTime else {
      return nil
    }
    let better = theirs.offset(from: now())
    if failure.action(response) == .clock { return better }
    let mayBeClock = failure.code == nil || failure.code == "AccessDenied"
    return mayBeClock && (better - offset).magnitude > .seconds(300) ? better : nil
  }
}
