import Crypto
import Foundation
package import Platform

/// Signs requests with AWS Signature Version 4.
///
/// Pure: the time is an argument, which allows a clock offset, and tests against known answers.
package struct SigV4Signer: Sendable {
  /// How the path of the request line is signed.
  package enum PathRule: Sendable {
    /// S3: exactly as sent, without normalization.
    case asSent
    /// Other services: encoded a second time; dot and empty segments removed if `normalized`.
    case encodedAgain(normalized: Bool)
  }

  /// A signature, its inputs, and what to send with the request.
  package struct Signature: Sendable {
    /// The request in the canonical form.
    package let canonicalRequest: String
    /// The text that the key signs.
    package let stringToSign: String
    /// The signature in hex.
    package let value: String
    /// The names of the signed headers.
    package let signedHeaders: String
    /// Fields to add to the request.
    package let headers: [(name: String, value: String)]
  }

  let credentials: S3Credentials
  let region: String
  let service: String
  let pathRule: PathRule
  /// Whether the payload's hash is sent and signed as a header, as S3 demands.
  let sendsPayloadHash: Bool

  static let algorithm = "AWS4-HMAC-SHA256"

  /// Makes a signer.
  package init(
    credentials: S3Credentials, region: String, service: String = "s3",
    pathRule: PathRule = .asSent, sendsPayloadHash: Bool = true
  ) {
    self.credentials = credentials
    self.region = region
    self.service = service
    self.pathRule = pathRule
    self.sendsPayloadHash = sendsPayloadHash
  }

  /// The hex SHA-256 of a body.
  package static func hash(_ body: [UInt8]) -> String {
    Hex.text(SHA256.hash(data: body))
  }

  /// Signs in headers: all given ones, and those that the signature adds.
  ///
  /// - Parameters:
  ///   - target: Path and query as sent.
  ///   - headers: The headers to sign, including `Host`.
  ///   - payloadHash: The hex SHA-256 of the body, or `UNSIGNED-PAYLOAD`.
  ///   - date: The moment to sign for, by the service's clock.
  package func sign(
    method: String, target: String, headers: [(name: String, value: String)],
    payloadHash: String, date: ServerTime
  ) -> Signature {
    let stamp = HTTPDate.amazon(date)
    var added: [(name: String, value: String)] = [(name: "X-Amz-Date", value: stamp)]
    if sendsPayloadHash { added.append((name: "X-Amz-Content-SHA256", value: payloadHash)) }
    if let token = credentials.sessionToken {
      added.append((name: "X-Amz-Security-Token", value: token))
    }
    let (path, query) = split(target)
    let parts = canonical(method, path, query, headers + added, payloadHash)
    let (text, signature) = signed(parts.request, stamp)
    let authorization =
      "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(stamp)), "
      + "SignedHeaders=\(parts.names), Signature=\(signature)"
    added.append((name: "Authorization", value: authorization))
    return Signature(
      canonicalRequest: parts.request, stringToSign: text, value: signature,
      signedHeaders: parts.names, headers: added)
  }

  /// The scope of a day's key.
  func scope(_ stamp: String) -> String {
    "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
  }

  /// The text that stands for a canonical request, and its signature.
  func signed(_ request: String, _ stamp: String) -> (text: String, signature: String) {
    let text = "\(Self.algorithm)\n\(stamp)\n\(scope(stamp))\n\(Self.hash(Array(request.utf8)))"
    var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
    for part in [String(stamp.prefix(8)), region, service, "aws4_request"] {
      key = SymmetricKey(
        data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
    }
    return (text, Hex.text(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)))
  }
}
