import Foundation
import HTTPTransport
import Platform

extension WebDAVStore {
  private static let properties = Array(
    """
    <?xml version="1.0" encoding="utf-8"?>
    <D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/>\
    <D:getlastmodified/><D:getetag/></D:prop></D:propfind>
    """.utf8)

  /// See ``ObjectStore/list(_:after:)``; always one page.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try ObjectKey.checkPrefix(prefix)
    // Only whole folders can be listed; match the start of a name here.
    let folder = prefix.lastSlash.map { String(prefix[..<$0]) } ?? ""
    let address = url(folder) + "/"
    let failure = failure("PROPFIND", address)
    let (response, place) = try await find(address, depth: "1")
    guard response.status != 404, response.status != 410 else {
      await folders.markMissing(url(folder))
      return ListPage(serverDate: date(response))
    }
    // lighttpd answers 403 to a listing of a file.
    if [400, 403, 405, 409].contains(response.status), !folder.isEmpty,
      try await isObject(folder)
    {
      return ListPage(serverDate: date(response))
    }
    let answer = try multiStatus(response, failure)
    guard let listing = FolderAnswer(answer, of: place) else {
      // The paths of another folder: neither the answer to this request, nor an empty folder.
      throw failure.garbage(response, "the listing of another folder")
    }
    if let status = listing.status, status >= 300 {
      // nginx reports a missing folder within a multi-status.
      guard status == 404 || status == 410 else {
        throw failure.error(HTTPResponse(status: status))
      }
      await folders.markMissing(url(folder))
      return ListPage(serverDate: date(response))
    }
    var page = ListPage(serverDate: date(response))
    for (name, entry) in listing.children {
      let key = folder.isEmpty ? name : "\(folder)/\(name)"
      guard ObjectKey.isValid(key), key.hasPrefix(prefix) else { continue }
      if let status = entry.status, status >= 300 {
        // Skip what is gone or not ours; skipping anything else would make the listing incomplete.
        if [401, 403, 404, 410].contains(status) { continue }
        throw failure.error(HTTPResponse(status: status), detail: "on \(name)")
      }
      try await add(entry, key, to: &page)
    }
    page.objects.sort { $0.key < $1.key }
    page.directories.sort()
    return page
  }

  private func add(_ entry: MultiStatus.Response, _ key: String, to page: inout ListPage)
    async throws
  {
    if entry.isCollection || (entry.size == nil && entry.href.hasSuffix("/")) {
      page.directories.append(key + "/")
    } else if let size = entry.size {
      page.objects.append(
        ObjectEntry(
          key: key, size: size, modified: entry.modified, etag: entry.etag.map(unquoted)))
    } else {
      do {
        page.objects.append(try await head(key))
      } catch let error as StoreError where error.isNotFound || error.code == .authentication {
        // Gone since, a folder that does not say so, or not ours.
      }
    }
  }

  /// Describes one object by PROPFIND, for servers whose HEAD lacks the size.
  func describe(_ key: String) async throws -> ObjectEntry {
    let failure = failure("PROPFIND", url(key))
    let (response, _) = try await find(url(key), depth: "0")
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
    let response = try await find(url(key), depth: "0").response
    guard response.status == 207, let entry = try? MultiStatus(response.body).responses.first else {
      return false
    }
    return entry.isFound && !entry.isCollection
  }

  func find(_ url: String, depth: String) async throws -> (response: HTTPResponse, url: String) {
    let headers = [
      (name: "Depth", value: depth), (name: "Content-Type", value: "application/xml"),
    ]
    return try await follow("PROPFIND", url, headers: headers, body: Self.properties)
  }

  func multiStatus(_ response: HTTPResponse, _ failure: HTTPFailure) throws -> MultiStatus {
    guard response.status == 207 else {
      guard (200..<300).contains(response.status) else { throw failure.error(response) }
      throw failure.garbage(response, "not a WebDAV answer")
    }
    guard !response.isPacked else { throw failure.packed(response) }
    do {
      return try MultiStatus(response.body)
    } catch {
      throw failure.unreadable(response, error, expecting: "multistatus")
    }
  }
}
