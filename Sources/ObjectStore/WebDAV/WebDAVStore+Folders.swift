import HTTPTransport
import Platform

extension WebDAVStore {
  /// Creates a folder and its missing parents.
  ///
  /// Tries the folder itself first, so that no request concerns folders above the store, to which
  /// the user may have no access.
  func makeFolder(_ url: String, _ failure: HTTPFailure) async throws {
    try await folders.make(url) { try await self.makeMissing(url, failure) }
  }

  /// Creates a folder that a listing did not find, so that no body is sent in vain.
  ///
  /// If that fails, the PUT gives the reason: some servers create folders by themselves.
  func prepareFolder(_ url: String, _ failure: HTTPFailure) async {
    try? await folders.makeIfMissing(url) { try await self.makeMissing(url, failure) }
  }

  private func makeMissing(_ url: String, _ failure: HTTPFailure) async throws {
    let response = try await send("MKCOL", url + "/")
    switch response.status {
    // 405 and 301 mean that it exists; rclone returns 201 again.
    case 200, 201, 204, 301, 405:
      return
    case 404, 409, 500:
      let above = parent(of: url)
      guard above.split(separator: "/").count > 2 else { throw missingFolder(response, failure) }
      try await makeFolder(above, failure)
      let again = try await send("MKCOL", url + "/")
      guard [200, 201, 204, 301, 405].contains(again.status) else {
        guard again.status == 404 || again.status == 409 else { throw failure.error(again) }
        throw missingFolder(again, failure)
      }
    default:
      throw failure.error(response, detail: "on MKCOL")
    }
  }

  /// The URL up to its last slash.
  func parent(of url: String) -> String {
    String(url[..<(url.lastSlash ?? url.endIndex)])
  }

  func missingFolder(_ response: HTTPResponse, _ failure: HTTPFailure) -> StoreError {
    failure.error(
      response, .configuration, detail: "the folder cannot be made",
      advice: "Correct store: so that it names a WebDAV folder that exists.")
  }
}
