import HTTPTransport

extension WebDAVStore {
  /// Describes failures of a request, without the login that a server may repeat.
  func failure(_ operation: String, _ target: String) -> HTTPFailure {
    HTTPFailure(operation: operation, target: target, secrets: authenticator.secrets)
  }

  /// How often one request is repeated because of its login.
  private static let maximumLogins = 3

  /// Sends a request with the authentication that the server accepts.
  ///
  /// - Parameter responseLimit: maximum body size of the answer; nil for the transport's own limit.
  func send(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil, responseLimit: Int? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method: method, url: url, headers: headers, body: body)
    if let responseLimit { request.maximumResponseBytes = responseLimit }
    let carriesObject = method == "PUT"
    // Avoid sending a whole object in vain.
    if carriesObject, authenticator.isUndecided { try await learnLogin() }
    do {
      return try await loggedIn(request)
    } catch let error as StoreError
      where carriesObject && error.code == .transient && authenticator.isUnproven
    {
      // Some servers close the connection after refusing a login instead of reading on, which hides
      // the refusal.
      try await learnLogin()
      return try await loggedIn(request)
    }
  }

  /// Requests a folder's properties without a body, to learn which authentication the server
  /// accepts.
  private func learnLogin() async throws {
    let request = HTTPRequest(
      method: "PROPFIND", url: location + "/", headers: [(name: "Depth", value: "0")])
    _ = try await loggedIn(request)
  }

  private func loggedIn(_ request: HTTPRequest) async throws -> HTTPResponse {
    var tries = 0
    while true {
      let pass = authenticator.pass(request.method, request.url)
      var request = request
      if let value = pass.value { request.headers.append((name: "Authorization", value: value)) }
      let response: HTTPResponse
      do {
        response = try await transport.send(request)
      } catch let error as TransportError {
        throw failure(request.method, request.url).error(error)
      }
      tries += 1
      guard authenticator.learn(response, from: pass), tries <= Self.maximumLogins else {
        return response
      }
    }
  }

  /// Sends a request that changes nothing, and follows one redirection on the same server.
  ///
  /// Some servers use it to require a slash after the names of folders.
  ///
  /// - Returns: the answer, and the URL that gave it.
  func follow(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil, responseLimit: Int? = nil
  ) async throws -> (response: HTTPResponse, url: String) {
    func send(_ url: String) async throws -> HTTPResponse {
      try await self.send(
        method, url, headers: headers, body: body, responseLimit: responseLimit)
    }
    let response = try await send(url)
    // An object whose name gains a slash is a folder.
    guard let target = Redirection.target(of: response, from: url),
      method == "PROPFIND" || target != url + "/"
    else { return (response, url) }
    return (try await send(target), target)
  }
}
