import Foundation
import HTTPTransport
import Platform

/// Logs the requests of one store in, and learns from refusals how the server wants it.
///
/// Shared by all requests under way. Where nobody can listen, basic authentication is sent
/// unasked; elsewhere only when the server offers nothing better.
final class WebDAVAuthenticator: Sendable {
  /// What went out with a request.
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
    /// Whether the server took what is sent now.
    var isProven = false
  }

  private let random: @Sendable () -> UInt64
  private let reread: @Sendable () throws -> WebDAVCredentials?
  private let state: Guarded<State>

  /// Makes an authenticator.
  ///
  /// - Parameters:
  ///   - credentials: What to show; nil for nothing.
  ///   - isPrivate: Whether nobody can listen on the way.
  ///   - random: Gives 64 random bits.
  ///   - reread: Looks the credentials up again: a file may have been written anew.
  init(
    _ credentials: WebDAVCredentials?, isPrivate: Bool, random: @escaping @Sendable () -> UInt64,
    reread: @escaping @Sendable () throws -> WebDAVCredentials?
  ) {
    self.random = random
    self.reread = reread
    state = Guarded(State(credentials: credentials, scheme: isPrivate ? .basic : .undecided))
  }

  /// Whether there is a password, and nothing is known yet of how the server wants it.
  var isUndecided: Bool {
    state.withLock { state in
      guard case .password = state.credentials, case .undecided = state.scheme else { return false }
      return !state.isProven
    }
  }

  /// Whether the server has not yet taken what is sent.
  var isUnproven: Bool { state.withLock { $0.credentials != nil && !$0.isProven } }

  /// What to send with a request; counts it where the scheme counts.
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

  /// Learns from an answer; returns whether the request is worth another try.
  func learn(_ response: HTTPResponse, from pass: Pass) -> Bool {
    guard response.status == 401 else {
      accept(response, pass)
      return false
    }
    let challenges = AuthChallenge.all(in: response)
    let isDecided = state.withLock { decide(&$0, challenges, pass) }
    if let isDecided { return isDecided }
    // The lock is not held while a file is read.
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

  /// Whether to try again after a refusal; nil when the credentials themselves are in doubt.
  private func decide(_ state: inout State, _ challenges: [AuthChallenge], _ pass: Pass)
    -> Bool?
  {
    guard case .password = state.credentials else { return nil }
    // Somebody else has learnt something in the meantime.
    if state.credentials != pass.credentials || !Self.isCurrent(pass.kind, state.scheme) {
      return true
    }
    let offersBasic = challenges.contains { $0.scheme == "basic" }
    if let digest = DigestLogin.best(
      of: challenges, cnonce: DigestLogin.cnonce(random)), pass.kind != .basic || !offersBasic
    {
      let isStale = challenges.contains { $0.parameters["stale"]?.lowercased() == "true" }
      // Some servers forget a nonce without a word: one that was good may have run out.
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

  /// The path of a URL, as it is sent.
  private static func target(of url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
  }
}
