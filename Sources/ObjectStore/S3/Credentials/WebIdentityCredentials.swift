import Foundation
import HTTPTransport

/// The key of a role, in exchange for a token of another identity provider (Kubernetes, a CI).
struct WebIdentityCredentials: CredentialLink {
  let environment: [String: String]
  let region: String
  let transport: HTTPTransport

  private static let names = (token: "AWS_WEB_IDENTITY_TOKEN_FILE", role: "AWS_ROLE_ARN")

  var isConfigured: Bool { environment.text(Self.names.token) != nil }

  func find() async throws -> CredentialFinding {
    guard let path = environment.text(Self.names.token) else {
      return .nothing("\(Self.names.token) is not set")
    }
    guard let role = environment.text(Self.names.role) else {
      throw StoreError.credentials(
        "\(Self.names.token) is set, but not \(Self.names.role)",
        advice: "Set \(Self.names.role) as well.")
    }
    let token = try SecretFile.read(path, named: Self.names.token)
    let service = CredentialService(name: "STS", transport: transport, secrets: [token])
    let fields = [
      ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
      ("RoleSessionName", environment.text("AWS_ROLE_SESSION_NAME") ?? "tidemark"),
      ("WebIdentityToken", token),
    ]
    let form = fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    let response = try await service.send(
      "POST", try endpoint() + "/",
      headers: [(name: "Content-Type", value: "application/x-www-form-urlencoded")],
      body: Array(form.utf8))
    return .key(try key(in: response, service), origin: "web identity, as \(role)")
  }

  /// The endpoint that the environment names, else that of the region.
  private func endpoint() throws -> String {
    if let named = environment.text("AWS_ENDPOINT_URL_STS") ?? environment.text("AWS_ENDPOINT_URL")
    {
      return try S3Service.checked(named)
    }
    return "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
  }

  private func key(in response: HTTPResponse, _ service: CredentialService) throws -> S3Credentials
  {
    let root = try? XMLScanner.parse(response.body)
    guard response.status == 200,
      let found = root?.child("AssumeRoleWithWebIdentityResult")?.child("Credentials"),
      let id = found.child("AccessKeyId")?.text, let secret = found.child("SecretAccessKey")?.text,
      let token = found.child("SessionToken")?.text, ![id, secret, token].contains("")
    else {
      let error = root?.name == "Error" ? root : root?.child("Error")
      throw service.refusal(
        response.status, error?.child("Code")?.text,
        advice: "Check \(Self.names.role), the role's trust, and the token's age.")
    }
    return S3Credentials(
      accessKeyID: id, secretAccessKey: secret, sessionToken: token,
      expiration: found.child("Expiration").flatMap { HTTPDate.parse($0.text) })
  }
}
