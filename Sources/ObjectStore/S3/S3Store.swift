import Crypto
import Foundation
package import HTTPTransport
package import Platform

/// A prefix in an S3 bucket as an object store.
package final class S3Store: ObjectStore {
  /// The bucket and prefix; for services other than AWS also the endpoint.
  package let location: String

  /// Whether the URL names this machine, or answers came from it.
  package var isOnThisMachine: Bool {
    StoreURL.isOnThisMachine(location) || transport.reachesThisMachine
  }

  let bucket: String
  let prefix: String
  let service: S3Service
  let credentials: any S3CredentialSource
  let options: S3ObjectOptions
  let transport: HTTPTransport
  let now: @Sendable () -> Timestamp
  let pageSize: Int
  let learnt: Guarded<Learnt>

  /// Properties of the service, learned from its answers.
  struct Learnt {
    var region: String
    /// How far the server's clock is ahead of ours.
    var clockOffset = Duration.zero
  }

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - bucket: The bucket, which must exist.
  ///   - prefix: The prefix of all keys, without slashes at its ends; may be empty.
  ///   - service: The service.
  ///   - credentials: The access key, or its source.
  ///   - transport: Carries the requests.
  ///   - pageSize: Number of keys that a listing asks for at once, at most 1000.
  ///   - now: The clock.
  package convenience init(
    bucket: String, prefix: String, service: S3Service, credentials: any S3CredentialSource,
    transport: HTTPTransport, pageSize: Int = 1000,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.init(
      bucket: bucket, prefix: prefix, service: service, credentials: credentials,
      options: S3ObjectOptions(), transport: transport, pageSize: pageSize, now: now)
  }

  /// Makes a store with options for every object.
  init(
    bucket: String, prefix: String, service: S3Service, credentials: any S3CredentialSource,
    options: S3ObjectOptions, transport: HTTPTransport, pageSize: Int = 1000,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.bucket = bucket
    self.prefix = prefix
    self.service = service
    self.credentials = credentials
    self.options = options
    self.transport = transport
    self.now = now
    self.pageSize = min(max(pageSize, 1), 1000)
    learnt = Guarded(Learnt(region: S3AccessPoint(bucket)?.region ?? service.region))
    location = Self.location(bucket, prefix, service)
  }

  /// The location of a store, see ``ObjectStore/location``.
  static func location(_ bucket: String, _ prefix: String, _ service: S3Service) -> String {
    let name = prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)"
    return service.endpoint.map { "\(name)?endpoint=\($0)" } ?? name
  }

  /// See ``ObjectStore/put(_:_:)``; proven when the ETag is the MD5 of the body.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await put(key, body, headers: [])
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await put(key, body, headers: [(name: "If-None-Match", value: "*")])
  }

  private func put(
    _ key: String, _ body: [UInt8], headers: [(name: String, value: String)]
  ) async throws -> PutReceipt {
    try ObjectKey.check(key, operation: "PUT")
    guard ByteCount(body.count) <= service.provider.largestPut else {
      throw StoreError(
        .tooLarge, operation: "PUT", target: "s3://\(bucket)/\(fullKey(key))",
        response: "\(service.provider.name) takes \(service.provider.largestPut) bytes at most")
    }
    let digest = Array(Insecure.MD5.hash(data: body))
    let call = S3Call(
      method: "PUT", operation: "PUT", key: key,
      headers: [
        (name: "Content-MD5", value: Data(digest).base64EncodedString()),
        (name: "Content-Type", value: "application/octet-stream"),
      ] + options.headers + headers, body: body)
    let response = try await perform(call)
    let etag = response.header("ETag").map { unquoted($0).lowercased() }
    return PutReceipt(
      provesContent: service.provider.etagIsMD5 && etag == Hex.text(digest),
      serverDate: response.header("Date").flatMap(HTTPDate.parse))
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try ObjectKey.check(key, operation: "GET")
    if let range, range.isEmpty {
      _ = try await head(key)
      return []
    }
    let headers = range?.header.map { [(name: "Range", value: $0)] } ?? []
    let call = S3Call(
      method: "GET", operation: "GET", key: key, headers: headers,
      responseLimit: range?.responseLimit)
    let response = try await perform(call, accepting: headers.isEmpty ? [] : [416])
    // rclone rejects a suffix that is longer than the object.
    if response.status == 416, case .suffix = range {
      return try await get(key, range: nil)
    }
    return try RangedBody.cut(response, range, failure(call))
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    try ObjectKey.check(key, operation: "HEAD")
    let call = S3Call(method: "HEAD", operation: "HEAD", key: key)
    let response = try await perform(call)
    guard let size = response.header("Content-Length").flatMap({ ByteCount($0) }),
      ObjectEntry.possibleSizes.contains(size)
    else {
      throw failure(call).garbage(response, "no Content-Length that can be")
    }
    return ObjectEntry(
      key: key, size: size, modified: response.header("Last-Modified").flatMap(HTTPDate.parse),
      etag: response.header("ETag").map(unquoted))
  }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try ObjectKey.checkPrefix(prefix)
    var query = [
      ("list-type", "2"), ("delimiter", "/"), ("encoding-type", "url"),
      ("max-keys", String(pageSize)), ("prefix", fullKey(prefix)),
    ]
    if let token { query.append(("continuation-token", token)) }
    let call = S3Call(method: "GET", operation: "LIST", query: query)
    let answer = try await answer(to: call)
    let response = answer.response
    let failure = failure(call, hiding: answer.secrets)
    let root: XMLElement
    do {
      root = try XMLScanner.parse(response.body)
    } catch {
      throw failure.unreadable(response, error, expecting: "ListBucketResult")
    }
    guard root.name == "ListBucketResult" else { throw failure.garbage(response, "not a listing") }
    var page = try S3Listing(root).page(fullPrefix: fullKey(""), prefix: prefix) {
      failure.garbage(response, $0)
    }
    page.serverDate = response.header("Date").flatMap(HTTPDate.parse)
    return page
  }

  /// The full name of a key or a prefix in the bucket.
  func fullKey(_ key: String) -> String {
    prefix.isEmpty ? key : "\(prefix)/\(key)"
  }

  /// - Parameter secrets: the secrets of the request.
  func failure(_ call: S3Call, hiding secrets: [String] = []) -> HTTPFailure {
    let key = call.key.map(fullKey) ?? prefix
    return HTTPFailure(
      operation: call.operation, target: key.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(key)",
      secrets: secrets)
  }
}
