import Crypto
import Foundation
import Platform

/// Digest authentication (RFC 7616) with one challenge: computes what to send, without network
/// access.
///
/// libcurl's own implementation first sends an empty PUT to learn the challenge, which creates an
/// empty object on a server without a login.
struct DigestLogin: Equatable {
  /// The hash, and whether it is the session variant.
  private enum Algorithm: String {
    case md5 = "md5"
    case md5Session = "md5-sess"
    case sha256 = "sha-256"
    case sha256Session = "sha-256-sess"

    var isSession: Bool { self == .md5Session || self == .sha256Session }
    var isSHA256: Bool { self == .sha256 || self == .sha256Session }

    func hash(_ text: String) -> String {
      let bytes = Data(text.utf8)
      let digest =
        isSHA256 ? Array(SHA256.hash(data: bytes)) : Array(Insecure.MD5.hash(data: bytes))
      return Hex.text(digest)
    }
  }

  private let algorithm: Algorithm
  /// The algorithm as the server wrote it; nil if it named none.
  private let algorithmName: String?
  private let realm: String
  private let opaque: String?
  private let usesQop: Bool
  private let hashesUser: Bool
  private let cnonce: String
  /// The current nonce.
  private(set) var nonce: String
  private var count: UInt32 = 0

  /// The best of the challenges: SHA-256 before MD5, else the first; nil if none is supported.
  static func best(of challenges: [AuthChallenge], cnonce: String) -> DigestLogin? {
    let usable = challenges.compactMap { DigestLogin($0, cnonce: cnonce) }
    return usable.first { $0.algorithm.isSHA256 } ?? usable.first
  }

  /// Accepts a challenge; nil if it is not digest, or requires something unsupported.
  init?(_ challenge: AuthChallenge, cnonce: String) {
    let parameters = challenge.parameters
    guard challenge.scheme == "digest", let nonce = parameters["nonce"],
      let realm = parameters["realm"],
      let algorithm = Algorithm(rawValue: parameters["algorithm"]?.lowercased() ?? "md5")
    else { return nil }
    let qop = parameters["qop"]?.lowercased().split { $0 == "," || $0 == " " }
    if let qop, !qop.isEmpty, !qop.contains("auth") { return nil }
    self.algorithm = algorithm
    algorithmName = parameters["algorithm"]
    self.realm = realm
    self.nonce = nonce
    opaque = parameters["opaque"]
    usesQop = qop?.isEmpty == false
    hashesUser = parameters["userhash"]?.lowercased() == "true"
    self.cnonce = cnonce
  }

  /// The value of `Authorization` for a request; increments the nonce count.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - target: The request's target: the path as sent, with the query.
  mutating func authorization(user: String, password: String, method: String, target: String)
    -> String
  {
    count += 1
    let digits = String(count, radix: 16)
    let nc = String(repeating: "0", count: 8 - digits.count) + digits
    var secret = algorithm.hash("\(user):\(realm):\(password)")
    // One client nonce for the whole life of a nonce: so it is the first request's, which the
    // session variants require, and also this request's, which some servers use instead.
    if algorithm.isSession { secret = algorithm.hash("\(secret):\(nonce):\(cnonce)") }
    let request = algorithm.hash("\(method):\(target)")
    let middle = usesQop ? "\(nonce):\(nc):\(cnonce):auth" : nonce
    var fields = [
      userField(user), "realm=\(quoted(realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(target))",
      "response=\"\(algorithm.hash("\(secret):\(middle):\(request)"))\"",
    ]
    if let algorithmName { fields.append("algorithm=\(algorithmName)") }
    if let opaque { fields.append("opaque=\(quoted(opaque))") }
    if usesQop { fields += ["qop=auth", "nc=\(nc)"] }
    if usesQop || algorithm.isSession { fields.append("cnonce=\(quoted(cnonce))") }
    if hashesUser { fields.append("userhash=true") }
    return "Digest " + fields.joined(separator: ", ")
  }

  /// Adopts the nonce that `Authentication-Info` gives for the next request.
  mutating func adopt(nextNonce: String) {
    nonce = nextNonce
    count = 0
  }

  private func userField(_ user: String) -> String {
    if hashesUser { return "username=\"\(algorithm.hash("\(user):\(realm)"))\"" }
    guard !user.utf8.allSatisfy({ $0 < 0x80 }) else { return "username=\(quoted(user))" }
    // RFC 7616, section 3.4: how to write a name that is not ASCII.
    return "username*=UTF-8''\(PercentEncoding.encode(user))"
  }

  private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// A client nonce.
  ///
  /// - Parameter random: returns 64 random bits.
  static func cnonce(_ random: () -> UInt64) -> String {
    (0..<2).map { _ in String(random(), radix: 36) }.joined()
  }
}
