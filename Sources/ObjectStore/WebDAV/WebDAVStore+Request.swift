import HTTPTransport

extension WebDAVStore {
  /// How often one request is sent again because of its login.
  private static let maximumLogins = 3

  /// Sends a request, logged in as the server wants it.
  ///
  /// - Parameter responseLimit: bytes of body that the answer may have; nil for the transport's own
  ///   limit.
  func send(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil, responseLimit: Int? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method: method, url: url, headers: headers, body: body)
    if let responseLimit { request.maximumResponseBytes = responseLimit }
    let carriesObject = method == "PUT"
    // Rather than a whole object for nothing.
    if carriesObject, authenticator.isUndecided { try await learnLogin() }
    do {
      return try await loggedIn(request)
    } catch let error as StoreError
      where carriesObject && error.code == .transient && authenticator.isUnproven
    {
      // Some servers close the connection instead of reading on after they have refused a login:
      // then nothing is heard of the refusal.
      try await learnLogin()
      return try await loggedIn(request)
    }
  }

  /// Asks for a folder's properties without any body, to learn how the server wants the login.
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
        throw HTTPFailure(operation: request.method, target: request.url).error(error)
      }
      tries += 1
      guard authenticator.learn(response, from: pass), tries <= Self.maximumLogins else {
        return response
      }
    }
  }

  /// Sends a request that changes nothing, and follows one redirection on the same server.
  ///
  /// Some servers want a slash after the names of folders, and say so in this way.
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
    // An object whose name gets a slash is a folder.
    guard let target = Redirection.target(of: response, from: url),
      method == "PROPFIND" || target != url + "/"
    else { return (response, url) }
    return (try await send(target), target)
  }
}
