import Foundation
package import HTTPTransport
import Platform

/// A folder on a WebDAV server as an object store.
///
/// Objects are put directly under their final names: a truncated one is recognized by its size and
/// put again. Folders are created when a PUT fails because they are missing.
package final class WebDAVStore: ObjectStore {
  /// The folder's URL, without a slash at the end.
  package let location: String

  /// Whether the URL names this machine, or answers came from it.
  package var isOnThisMachine: Bool {
    StoreURL.isOnThisMachine(location) || transport.reachesThisMachine
  }

  /// Bytes from which on sending a body twice costs more than waiting for another one.
  private static let largeBody = 64 << 10

  let transport: HTTPTransport
  let folders = FolderMaker()
  let authenticator: WebDAVAuthenticator

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - url: The folder, percent-encoded, without a slash at the end.
  ///   - credentials: The credentials; nil for none.
  ///   - transport: Carries the requests.
  ///   - random: Returns 64 random bits.
  ///   - reread: Reads the credentials again when the server refuses them.
  package init(
    url: String, credentials: WebDAVCredentials?, transport: HTTPTransport,
    random: @escaping @Sendable () -> UInt64,
    reread: @escaping @Sendable () throws -> WebDAVCredentials?
  ) {
    location = url
    self.transport = transport
    authenticator = WebDAVAuthenticator(
      credentials, isPrivate: StoreURL.isPrivate(url), random: random, reread: reread)
  }

  /// See ``ObjectStore/put(_:_:)``; proves nothing, because WebDAV has no digest.
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
    let folder = parent(of: url(key))
    return try await folders.put(into: folder, isLarge: body.count >= Self.largeBody) {
      try await self.put(key, body, headers, into: folder)
    }
  }

  private func put(
    _ key: String, _ body: [UInt8], _ headers: [(name: String, value: String)],
    into folder: String
  ) async throws -> PutReceipt {
    let failure = failure("PUT", url(key))
    let headers = [(name: "Content-Type", value: "application/octet-stream")] + headers
    await prepareFolder(folder, failure)
    var response = try await send("PUT", url(key), headers: headers, body: body)
    // A missing parent is 409 by the standard, 500 with nginx, 404 with some others.
    if [404, 409, 500].contains(response.status) {
      try await makeFolder(folder, failure)
      response = try await send("PUT", url(key), headers: headers, body: body)
    }
    switch response.status {
    // A page that reports success has status 201.
    case 200 where response.isWebPage: throw failure.garbage(response, "a web page")
    case 200, 201, 202, 204:
      return PutReceipt(provesContent: false, serverDate: date(response))
    case 404: throw missingFolder(response, failure)
    case 405: throw try await refusal(of: key, response, failure)
    default: throw failure.error(response)
    }
  }

  /// The meaning of a PUT that the server claims not to know.
  ///
  /// A folder has that name, the disk is full or read-only (as rclone reports it), or this is not a
  /// WebDAV server.
  private func refusal(of key: String, _ response: HTTPResponse, _ failure: HTTPFailure)
    async throws -> StoreError
  {
    let above = parent(of: url(key)) + "/"
    guard let folder = try? await find(above, depth: "0"), folder.response.status == 207 else {
      return failure.error(response)
    }
    let found = try? await find(url(key), depth: "0").response
    if let found, found.status == 207,
      try MultiStatus(found.body).responses.first?.isCollection == true
    {
      return failure.error(
        response, .conflict, detail: "a folder has this name", advice: "Remove that folder.")
    }
    return failure.error(
      response, .full, detail: "the server takes no files here; some say so when the disk is full",
      advice: "Free some space on the store, or make it writable.")
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try ObjectKey.check(key, operation: "GET")
    if let range, range.isEmpty {
      _ = try await head(key)
      return []
    }
    let failure = failure("GET", url(key))
    let headers = range?.header.map { [(name: "Range", value: $0)] } ?? []
    let response = try await follow(
      "GET", url(key), headers: headers, responseLimit: range?.responseLimit
    ).response
    guard
      [200, 204, 206].contains(response.status) || (response.status == 416 && !headers.isEmpty)
    else {
      throw failure.error(response)
    }
    // rclone rejects a suffix that is longer than the object.
    if response.status == 416, case .suffix = range {
      return try await get(key, range: nil)
    }
    return try RangedBody.cut(response, range, failure)
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    try ObjectKey.check(key, operation: "HEAD")
    let response = try await follow("HEAD", url(key)).response
    let failure = failure("HEAD", url(key))
    if [401, 403, 404, 410].contains(response.status) { throw failure.error(response) }
    if (500..<600).contains(response.status), response.status != 501 {
      throw failure.error(response)
    }
    guard response.status == 200, !response.isPacked,
      let size = response.header("Content-Length").flatMap({ ByteCount($0) }),
      ObjectEntry.possibleSizes.contains(size),
      // WsgiDAV describes a folder like this: empty, with neither a time nor a tag.
      size > 0 || response.header("Last-Modified") != nil || response.header("ETag") != nil
    else { return try await describe(key) }
    return ObjectEntry(
      key: key, size: size, modified: response.header("Last-Modified").flatMap(HTTPDate.parse),
      etag: response.header("ETag").map(unquoted))
  }

  /// See ``ObjectStore/delete(_:)``; one request per key.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    var outcomes: [DeleteOutcome] = []
    for key in keys {
      do {
        try await delete(key)
        outcomes.append(DeleteOutcome(key: key))
      } catch let error as StoreError {
        // The next key would fail for the same reason.
        if error.endsPass { throw error }
        if outcomes.isEmpty, error.code == .authentication { throw error }
        outcomes.append(DeleteOutcome(key: key, error: error))
      }
    }
    return outcomes
  }

  private func delete(_ key: String) async throws {
    try ObjectKey.check(key, operation: "DELETE")
    let response = try await send("DELETE", url(key))
    let failure = failure("DELETE", url(key))
    switch response.status {
    // The server's own message, or a login form in its place.
    case 200 where response.isWebPage:
      do {
        _ = try await head(key)
      } catch let error as StoreError where error.isNotFound {
        return
      }
      throw failure.garbage(response, "a web page")
    case 200, 202, 204, 404, 410: return
    case 207:
      guard let status = try? MultiStatus(response.body) else {
        throw failure.garbage(response, "not a multi-status")
      }
      guard status.responses.contains(where: { $0.status != nil }) else {
        throw failure.garbage(response, "a multi-status without a status")
      }
      let refusal = status.responses.compactMap(\.status).first { $0 >= 300 && $0 != 404 }
      if let refusal { throw failure.error(HTTPResponse(status: refusal)) }
    default: throw failure.error(response)
    }
  }

  func url(_ key: String) -> String {
    key.isEmpty ? location : "\(location)/\(PercentEncoding.encode(key, keepingSlash: true))"
  }

  func date(_ response: HTTPResponse) -> ServerTime? {
    response.header("Date").flatMap(HTTPDate.parse)
  }
}

/// An entity tag without its quotes and weakness mark.
func unquoted(_ etag: String) -> String {
  var text = Substring(etag)
  if text.hasPrefix("W/") { text = text.dropFirst(2) }
  if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
    text = text.dropFirst().dropLast()
  }
  return String(text)
}
