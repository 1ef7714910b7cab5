import Foundation
public import HTTPTransport

/// A folder on a WebDAV server as an object store.
///
/// Objects are put directly under their final names: what is cut short is seen by its size and
/// put again. Folders are made when a PUT fails for the lack of them.
public final class WebDAVStore: ObjectStore {
  /// The folder's URL, without a slash at the end.
  public let location: String

  let transport: HTTPTransport
  let folders = FolderMaker()
  private let authorization: String?

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - url: The folder, percent-encoded, without a slash at the end.
  ///   - login: User and password for basic authentication; nil leaves it to the transport.
  ///   - transport: What carries the requests.
  public init(
    url: String, login: (user: String, password: String)?, transport: HTTPTransport
  ) {
    location = url
    self.transport = transport
    authorization = login.map {
      "Basic " + Data("\($0.user):\($0.password)".utf8).base64EncodedString()
    }
  }

  /// See ``ObjectStore/put(_:_:)``; proves nothing, WebDAV has no digest.
  public func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try ObjectKey.check(key, operation: "PUT")
    let failure = HTTPFailure(operation: "PUT", target: url(key))
    let headers = [(name: "Content-Type", value: "application/octet-stream")]
    var response = try await send("PUT", url(key), headers: headers, body: body)
    // A missing parent is 409 by the standard, 500 with nginx, 404 with some others.
    if [404, 409, 500].contains(response.status) {
      try await makeFolder(parent(of: url(key)), failure)
      response = try await send("PUT", url(key), headers: headers, body: body)
    }
    switch response.status {
    case 200, 201, 202, 204:
      return PutReceipt(provesContent: false, serverDate: date(response))
    case 404: throw missingFolder(response, failure)
    default: throw failure.error(response)
    }
  }

  /// See ``ObjectStore/get(_:range:)``.
  public func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try ObjectKey.check(key, operation: "GET")
    if let range, range.header == nil {
      _ = try await head(key)
      return []
    }
    let failure = HTTPFailure(operation: "GET", target: url(key))
    let headers = range?.header.map { [(name: "Range", value: $0)] } ?? []
    let response = try await send("GET", url(key), headers: headers)
    guard [200, 206].contains(response.status) || (response.status == 416 && range != nil) else {
      throw failure.error(response)
    }
    // rclone refuses a suffix that is longer than the object.
    if response.status == 416, case .suffix = range {
      return try await get(key, range: nil)
    }
    return try RangedBody.cut(response, range, failure)
  }

  /// See ``ObjectStore/head(_:)``.
  public func head(_ key: String) async throws -> ObjectEntry {
    try ObjectKey.check(key, operation: "HEAD")
    let response = try await send("HEAD", url(key))
    let failure = HTTPFailure(operation: "HEAD", target: url(key))
    if [401, 403, 404, 410].contains(response.status) { throw failure.error(response) }
    if (500..<600).contains(response.status), response.status != 501 {
      throw failure.error(response)
    }
    guard response.status == 200, let size = response.header("Content-Length").flatMap(Int64.init),
      size >= 0
    else { return try await describe(key) }
    return ObjectEntry(
      key: key, size: size, modified: response.header("Last-Modified").flatMap(HTTPDate.parse),
      etag: response.header("ETag").map(unquoted))
  }

  /// See ``ObjectStore/delete(_:)``; one request per key.
  public func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    var outcomes: [DeleteOutcome] = []
    for key in keys {
      do {
        try await delete(key)
        outcomes.append(DeleteOutcome(key: key))
      } catch let error as StoreError {
        // Nothing will be different for the next key.
        if error.code == .cancelled { throw error }
        if outcomes.isEmpty, error.code == .authentication { throw error }
        outcomes.append(DeleteOutcome(key: key, error: error))
      }
    }
    return outcomes
  }

  private func delete(_ key: String) async throws {
    try ObjectKey.check(key, operation: "DELETE")
    let response = try await send("DELETE", url(key))
    let failure = HTTPFailure(operation: "DELETE", target: url(key))
    switch response.status {
    case 200, 202, 204, 404, 410: return
    case 207:
      guard let status = try? MultiStatus(response.body) else {
        throw failure.garbage(response, "not a multi-status")
      }
      let refusal = status.responses.compactMap(\.status).first { $0 >= 300 && $0 != 404 }
      if let refusal { throw failure.error(HTTPResponse(status: refusal)) }
    default: throw failure.error(response)
    }
  }

  func url(_ key: String) -> String {
    key.isEmpty ? location : "\(location)/\(PercentEncoding.encode(key, keepingSlash: true))"
  }

  func date(_ response: HTTPResponse) -> Date? {
    response.header("Date").flatMap(HTTPDate.parse)
  }

  func send(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) async throws -> HTTPResponse {
    var headers = headers
    if let authorization { headers.append((name: "Authorization", value: authorization)) }
    let request = HTTPRequest(method: method, url: url, headers: headers, body: body)
    do {
      return try await transport.send(request)
    } catch let error as TransportError {
      throw HTTPFailure(operation: method, target: url).error(error)
    }
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
