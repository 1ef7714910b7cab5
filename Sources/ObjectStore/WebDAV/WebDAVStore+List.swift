import Foundation
import HTTPTransport

extension WebDAVStore {
  private static let properties = Array(
    """
    <?xml version="1.0" encoding="utf-8"?>
    <D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/>\
    <D:getlastmodified/><D:getetag/></D:prop></D:propfind>
    """.utf8)

  /// See ``ObjectStore/list(_:after:)``; always one page.
  public func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try ObjectKey.checkPrefix(prefix)
    // Only whole folders can be asked for; the start of a name is matched here.
    let folder = prefix.lastIndex(of: "/").map { String(prefix[..<$0]) } ?? ""
    let address = url(folder) + "/"
    let failure = HTTPFailure(operation: "PROPFIND", target: address)
    let response = try await find(address, depth: "1")
    guard response.status != 404, response.status != 410 else {
      return ListPage(serverDate: date(response))
    }
    // lighttpd refuses to look into a file as if it were a folder with 403.
    if [400, 403, 405, 409].contains(response.status), !folder.isEmpty,
      try await isObject(folder)
    {
      return ListPage(serverDate: date(response))
    }
    let found = try multiStatus(response, failure)
    var page = ListPage(serverDate: date(response))
    let base = (MultiStatus.path(address) ?? "/") == "/" ? "" : trimmed(MultiStatus.path(address))
    var sawFolder = false
    var strangers = 0
    for entry in found.responses {
      guard let path = entry.path else { continue }
      let whole = trimmed(path)
      if whole == base {
        sawFolder = true
        continue
      }
      guard whole.hasPrefix(base + "/"), !whole.dropFirst(base.utf8.count + 1).contains("/") else {
        strangers += 1
        continue
      }
      let name = String(whole.dropFirst(base.count + 1))
      let key = folder.isEmpty ? name : "\(folder)/\(name)"
      guard entry.isFound, ObjectKey.isValid(key), key.hasPrefix(prefix) else { continue }
      try await add(entry, key, to: &page)
    }
    // The paths of another folder: not the answer to this question, and no empty folder.
    guard sawFolder || strangers == 0 else {
      throw failure.garbage(response, "the listing of another folder")
    }
    page.objects.sort { $0.key < $1.key }
    page.directories.sort()
    return page
  }

  private func add(_ entry: MultiStatus.Response, _ key: String, to page: inout ListPage)
    async throws
  {
    if entry.isCollection {
      page.directories.append(key + "/")
    } else if let size = entry.size {
      page.objects.append(
        ObjectEntry(
          key: key, size: size, modified: entry.modified, etag: entry.etag.map(unquoted)))
    } else {
      page.objects.append(try await head(key))
    }
  }

  /// Describes one object by PROPFIND, for servers whose HEAD tells no size.
  func describe(_ key: String) async throws -> ObjectEntry {
    let failure = HTTPFailure(operation: "PROPFIND", target: url(key))
    let response = try await find(url(key), depth: "0")
    guard response.status != 404 else { throw failure.error(response) }
    let found = try multiStatus(response, failure)
    let missing = StoreError(
      .notFound, operation: "PROPFIND", target: url(key), response: "no such object")
    guard let entry = found.responses.first, entry.isFound, !entry.isCollection else {
      throw missing
    }
    guard let size = entry.size else { throw failure.garbage(response, "no size") }
    return ObjectEntry(
      key: key, size: size, modified: entry.modified, etag: entry.etag.map(unquoted))
  }

  private func isObject(_ key: String) async throws -> Bool {
    let response = try await find(url(key), depth: "0")
    guard response.status == 207, let entry = try? MultiStatus(response.body).responses.first else {
      return false
    }
    return entry.isFound && !entry.isCollection
  }

  private func find(_ url: String, depth: String) async throws -> HTTPResponse {
    let headers = [
      (name: "Depth", value: depth), (name: "Content-Type", value: "application/xml"),
    ]
    return try await send("PROPFIND", url, headers: headers, body: Self.properties)
  }

  private func multiStatus(_ response: HTTPResponse, _ failure: HTTPFailure) throws -> MultiStatus {
    guard response.status == 207 else {
      guard (200..<300).contains(response.status) else { throw failure.error(response) }
      throw failure.garbage(response, "not a WebDAV answer")
    }
    do {
      return try MultiStatus(response.body)
    } catch {
      throw failure.garbage(response, "an XML answer that cannot be read: \(error.reason)")
    }
  }

  private func trimmed(_ path: String?) -> String {
    guard let path else { return "" }
    return path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
