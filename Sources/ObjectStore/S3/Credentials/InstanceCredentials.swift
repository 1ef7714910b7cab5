import Foundation
import HTTPTransport

/// The key of the virtual machine's role: instance metadata, version 2.
///
/// Version 1 is not used: it gives the key to anyone who makes us send a plain GET.
struct InstanceCredentials: CredentialLink {
  let environment: [String: String]
  var transport = CredentialService.near(patience: .seconds(1))

  let isConfigured = false
  private static let folder = "/latest/meta-data/iam/security-credentials/"

  func find() async throws -> CredentialFinding {
    if environment.text("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" {
      return .nothing("instance metadata is disabled")
    }
    let endpoint = try endpoint()
    var service = CredentialService(name: "instance metadata", transport: transport)
    let ttl = [(name: "X-aws-ec2-metadata-token-ttl-seconds", value: "21600")]
    let opening: HTTPResponse
    do {
      opening = try await service.send(
        "PUT", endpoint + "/latest/api/token", headers: ttl, body: [])
    } catch let error as StoreError where error.code != .cancelled {
      return .nothing("no instance metadata at \(endpoint)")
    }
    let token = String(decoding: opening.body, as: UTF8.self)
    guard opening.status == 200, Self.isWord(token, upTo: 1024) else {
      return .nothing("no instance metadata version 2 at \(endpoint) (\(opening.status))")
    }
    service.secrets = [token]
    let headers = [(name: "X-aws-ec2-metadata-token", value: token)]
    let roles = try await service.send("GET", endpoint + Self.folder, headers: headers)
    guard roles.status != 404 else { return .nothing("this machine has no role") }
    let role = String(decoding: roles.body.prefix { $0 != 0x0A }, as: UTF8.self)
    let advice = "Check the machine's role."
    guard roles.status == 200, Self.isWord(role, upTo: 128) else {
      throw service.refusal(roles.status, "without a role", advice: advice)
    }
    let response = try await service.send(
      "GET", endpoint + Self.folder + PercentEncoding.encode(role), headers: headers)
    return .key(
      try service.key(in: response, advice: advice), origin: "the machine's role \(role)")
  }

  private func endpoint() throws -> String {
    let usesV6 = environment.text("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?.lowercased() == "ipv6"
    let usual = usesV6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
    let name = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
    guard var endpoint = environment.text(name) else { return usual }
    while endpoint.hasSuffix("/") { endpoint.removeLast() }
    guard endpoint.hasPrefix("http://") || endpoint.hasPrefix("https://"),
      !endpoint.contains("@"), Self.isWord(endpoint, upTo: 256)
    else { throw StoreError.credentials("\(name) is not a URL", advice: "Correct \(name).") }
    return endpoint
  }

  private static func isWord(_ text: String, upTo limit: Int) -> Bool {
    !text.isEmpty && text.utf8.count <= limit && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
