import Foundation
import HTTPTransport

/// A network service that issues temporary keys.
struct CredentialService: Sendable {
  /// Its name in messages.
  let name: String
  let transport: HTTPTransport
  /// What it is told to identify this machine or program.
  var secrets: [String] = []

  /// A transport to addresses of this machine or its host, without a proxy and with a short
  /// timeout.
  static func near(patience: Duration) -> HTTPTransport {
    var options = HTTPTransport.Options()
    options.workers = 1
    options.proxy = ""
    options.connectTimeout = patience
    options.stallTimeout = patience
    return HTTPTransport(options)
  }

  /// Sends a request and reads the whole answer.
  ///
  /// Throws `StoreError` if there is none.
  func send(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) async throws -> HTTPResponse {
    let request = HTTPRequest(
      method: method, url: url, headers: headers, body: body, maximumResponseBytes: 1 << 20)
    do {
      return try await transport.send(request)
    } catch let error as TransportError {
      throw HTTPFailure(operation: "open", target: name, secrets: secrets).error(error)
    }
  }

  /// The error for an answer without a key; shows nothing of it but its code.
  func refusal(_ status: Int, _ code: String? = nil, advice: String) -> StoreError {
    let meaning: StoreError.Code =
      switch status {
      case 429: .overloaded
      case 408, 500...: .transient
      default: .authentication
      }
    let said = code.map(SecretMask(known: secrets).maskHead)
    return .credentials(
      "\(name) answered \(status)\(said.map { " \($0)" } ?? "")", code: meaning, advice: advice)
  }

  /// The key in the JSON answer of the container and the instance service.
  ///
  /// Throws `StoreError` if there is none.
  func key(in response: HTTPResponse, advice: String) throws -> S3Credentials {
    guard response.status == 200 else { throw refusal(response.status, advice: advice) }
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)) else {
      throw refusal(response.status, "without a key", advice: advice)
    }
    guard let id = answer.accessKeyID, let secret = answer.secretAccessKey,
      answer.code == nil || answer.code == "Success",
      !id.isEmpty, !secret.isEmpty
    else { throw refusal(response.status, answer.code ?? "without a key", advice: advice) }
    return S3Credentials(
      accessKeyID: id, secretAccessKey: secret, sessionToken: answer.token,
      expiration: answer.expiration.flatMap(HTTPDate.parse))
  }

  private struct Answer: Decodable {
    let code: String?
    let accessKeyID: String?
    let secretAccessKey: String?
    let token: String?
    let expiration: String?

    enum CodingKeys: String, CodingKey {
      case code = "Code"
      case accessKeyID = "AccessKeyId"
      case secretAccessKey = "SecretAccessKey"
      case token = "Token"
      case expiration = "Expiration"
    }
  }
}
