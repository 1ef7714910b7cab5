import Foundation
import HTTPTransport
import Platform

/// Authenticates the requests of one store, and learns from refusals which scheme the server
/// accepts.
///
/// Shared by all concurrent requests. Basic authentication is sent preemptively where traffic
/// cannot be intercepted; elsewhere only if the server offers nothing better.
final class WebDAVAuthenticator: Sendable {
  /// The authentication sent with a request.
  struct Pass: Equatable {
    fileprivate enum Kind: Equatable {
      case nothing, basic, bearer
      case digest(nonce: String)
    }

    fileprivate var kind: Kind
    fileprivate var credentials: WebDAVCredentials?
    /// The header field's value.
    var value: String?
  }

  private enum Scheme {
    case undecided, basic
    case digest(DigestLogin)
  }

  private struct State {
    var credentials: WebDAVCredentials?
    var scheme: Scheme
    /// Whether the server has accepted the present authentication.
    var isProven = false
  }

  private let random: @Sendable () -> UInt64
  private let reread: @Sendable () throws -> WebDAVCredentials?
  private let state: Guarded<State>

  /// Makes an authenticator.
  ///
  /// - Parameters:
  ///   - credentials: The credentials; nil for none.
  ///   - isPrivate: Whether traffic cannot be intercepted.
  ///   - random: Returns 64 random bits.
  ///   - reread: Reads the credentials again, in case their file has changed.
  init(
    _ credentials: WebDAVCredentials?, isPrivate: Bool, random: @escaping @Sendable () -> UInt64,
    reread: @escaping @Sendable () throws -> WebDAVCredentials?
  ) {
    self.random = random
    self.reread = reread
    state = Guarded(State(credentials: credentials, scheme: isPrivate ? .basic : .undecided))
  }

  /// What must not occur in a text for people: the password or token, and the login as it is sent.
  var secrets: [String] {
    switch state.withLock({ $0.credentials }) {
    case nil: []
    case .token(let token): [token]
    case .password(let user, let password):
      [password, "\(user):\(password)", Data("\(user):\(password)".utf8).base64EncodedString()]
    }
  }

  /// Whether there is a password, but no scheme is known yet.
  var isUndecided: Bool {
    state.withLock { state in
      guard case .password = state.credentials, case .undecided = state.scheme else { return false }
      return !state.isProven
    }
  }

  /// Whether the server has not yet accepted the present authentication.
  var isUnproven: Bool { state.withLock { $0.credentials != nil && !$0.isProven } }

  /// The authentication to send with a request; increments its nonce count.
  func pass(_ method: String, _ url: String) -> Pass {
    state.withLock { state in
      switch (state.credentials, state.scheme) {
      case (nil, _), (.password, .undecided):
        return Pass(kind: .nothing, credentials: state.credentials)
      case (.token(let token), _):
        return Pass(kind: .bearer, credentials: state.credentials, value: "Bearer \(token)")
      case (.password(let user, let password), .basic):
        let login = Data("\(user):\(password)".utf8).base64EncodedString()
        return Pass(kind: .basic, credentials: state.credentials, value: "Basic \(login)")
      case (.password(let user, let password), .digest(var digest)):
        let value = digest.authorization(
          user: user, password: password, method: method, target: Self.target(of: url))
        state.scheme = .digest(digest)
        return Pass(
          kind: .digest(nonce: digest.nonce), credentials: state.credentials, value: value)
      }
    }
  }

  /// Learns from an answer; returns whether to try the request again.
  func learn(_ response: HTTPResponse, from pass: Pass) -> Bool {
    guard response.status == 401 else {
      accept(response, pass)
      return false
    }
    let challenges = AuthChallenge.all(in: response)
    let isDecided = state.withLock { decide(&$0, challenges, pass) }
    if let isDecided { return isDecided }
    // Do not hold the lock while reading a file.
    guard let fresh = try? reread(), fresh != pass.credentials else { return false }
    state.withLock { state in
      state.credentials = fresh
      state.isProven = false
      if case .digest = pass.kind,
        let digest = DigestLogin.best(
          of: challenges, cnonce: DigestLogin.cnonce(random))
      {
        state.scheme = .digest(digest)
      }
    }
    return true
  }

  private func accept(_ response: HTTPResponse, _ pass: Pass) {
    let info = response.header("Authentication-Info").map(AuthChallenge.parameters)
    state.withLock { state in
      guard state.credentials == pass.credentials else { return }
      state.isProven = true
      guard case .digest(var digest) = state.scheme, let next = info?["nextnonce"], !next.isEmpty,
        pass.kind == .digest(nonce: digest.nonce)
      else { return }
      digest.adopt(nextNonce: next)
      state.scheme = .digest(digest)
    }
  }

  /// Whether to try again after a refusal; nil if the credentials themselves are in doubt.
  private func decide(_ state: inout State, _ challenges: [AuthChallenge], _ pass: Pass)
    -> Bool?
  {
    guard case .password = state.credentials else { return nil }
    // Another request has learned something meanwhile.
    if state.credentials != pass.credentials || !Self.isCurrent(pass.kind, state.scheme) {
      return true
    }
    let offersBasic = challenges.contains { $0.scheme == "basic" }
    if let digest = DigestLogin.best(
      of: challenges, cnonce: DigestLogin.cnonce(random)), pass.kind != .basic || !offersBasic
    {
      let isStale = challenges.contains { $0.parameters["stale"]?.lowercased() == "true" }
      // Some servers drop a nonce without saying so: one that was accepted may have expired.
      let isWorthIt = if case .digest = pass.kind { isStale || state.isProven } else { true }
      state.scheme = .digest(digest)
      state.isProven = false
      return isWorthIt ? true : nil
    }
    if pass.kind == .nothing, offersBasic {
      state.scheme = .basic
      return true
    }
    return nil
  }

  private static func isCurrent(_ kind: Pass.Kind, _ scheme: Scheme) -> Bool {
    switch (kind, scheme) {
    case (.nothing, .undecided), (.basic, .basic): true
    case (.digest(let nonce), .digest(let digest)): nonce == digest.nonce
    default: false
    }
  }

  /// The path of a URL as sent.
  private static func target(of url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
  }
}
