import Foundation
import Platform
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.medium)) struct SigV4SignerTests {
  struct Vector: Decodable {
    struct Credentials: Decodable {
      let accessKeyId: String
      let secretAccessKey: String
      let sessionToken: String?
    }
    struct Options: Decodable {
      let normalizePath: Bool
      let doubleEncodePath: Bool
      let expires: Int?
      let signBody: Bool
      let payloadHash: String?
      let omitSessionToken: Bool?
    }
    struct Request: Decodable {
      let method: String
      let target: String
      let headers: [[String]]
      let bodyBase64: String
    }
    struct Answer: Decodable {
      let canonicalRequest: String
      let stringToSign: String
      let signature: String
      let signedHeaders: String
      let authorization: String?
      let signedTarget: String?
    }
    struct Expected: Decodable {
      let header: Answer?
      let query: Answer?
    }
    let service: String
    let region: String
    let date: String
    let credentials: Credentials
    let options: Options
    let request: Request
    let expected: Expected
  }

  @Test(arguments: Fixtures.names("sigv4"))
  func `signatures match the SigV4 test vectors`(_ name: String) throws {
    let vector = try Fixtures.json("sigv4/\(name).json", as: Vector.self)
    let omit = vector.options.omitSessionToken == true
    let signer = SigV4Signer(
      credentials: S3Credentials(
        accessKeyID: vector.credentials.accessKeyId,
        secretAccessKey: vector.credentials.secretAccessKey,
        sessionToken: omit ? nil : vector.credentials.sessionToken),
      region: vector.region, service: vector.service,
      pathRule: vector.options.doubleEncodePath
        ? .encodedAgain(normalized: vector.options.normalizePath) : .asSent,
      sendsPayloadHash: vector.service == "s3" || vector.options.signBody)
    let body = Array(try #require(Data(base64Encoded: vector.request.bodyBase64)))
    let headers = vector.request.headers.map { (name: $0[0], value: $0[1]) }
    let date = try #require(HTTPDate.parse(vector.date))
    if let expected = vector.expected.header {
      let made = signer.sign(
        method: vector.request.method, target: vector.request.target, headers: headers,
        payloadHash: vector.options.payloadHash ?? SigV4Signer.hash(body), date: date)
      #expect(made.canonicalRequest == expected.canonicalRequest)
      #expect(made.stringToSign == expected.stringToSign)
      #expect(made.value == expected.signature)
      #expect(made.signedHeaders == expected.signedHeaders)
      let authorization = made.headers.first { $0.name == "Authorization" }?.value
      #expect(authorization == expected.authorization)
    }
    if let expected = vector.expected.query {
      let made = signer.presign(
        method: vector.request.method, target: vector.request.target, headers: headers,
        payloadHash: vector.service == "s3" ? "UNSIGNED-PAYLOAD" : SigV4Signer.hash(body),
        expires: vector.options.expires ?? 3600, date: date)
      #expect(made.canonicalRequest == expected.canonicalRequest)
      #expect(made.stringToSign == expected.stringToSign)
      #expect(made.signature == expected.signature)
      if let target = expected.signedTarget { #expect(made.target == target) }
    }
    #expect(vector.expected.header != nil || vector.expected.query != nil)
  }
}

extension SigV4Signer {
  /// Signs in the query, which only these vectors need: the product signs in headers.
  fileprivate func presign(
    method: String, target: String, headers: [(name: String, value: String)],
    payloadHash: String, expires: Int, date: ServerTime
  ) -> (canonicalRequest: String, stringToSign: String, signature: String, target: String) {
    let stamp = HTTPDate.amazon(date)
    var (path, query) = split(target)
    let names = Set(headers.map { $0.name.lowercased() }).sorted().joined(separator: ";")
    query += [
      ("X-Amz-Algorithm", Self.algorithm),
      ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(stamp))"),
      ("X-Amz-Date", stamp), ("X-Amz-Expires", String(expires)), ("X-Amz-SignedHeaders", names),
    ]
    if let token = credentials.sessionToken { query.append(("X-Amz-Security-Token", token)) }
    let request = canonical(method, path, query, headers, payloadHash).request
    let (text, signature) = signed(request, stamp)
    path += "?\(Self.canonicalQuery(query))&X-Amz-Signature=\(signature)"
    return (request, text, signature, path)
  }
}
