import Foundation
import HTTPTransport

/// The key that a container's host provides (ECS, EKS Pod Identity).
struct ContainerCredentials: CredentialLink {
  let environment: [String: String]
  var transport = CredentialService.near(patience: .seconds(5))

  private static let relative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
  private static let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
  private static let token = "AWS_CONTAINER_AUTHORIZATION_TOKEN"

  var isConfigured: Bool {
    environment.text(Self.relative) != nil || environment.text(Self.full) != nil
  }

  func find() async throws -> CredentialFinding {
    let url: String
    if let path = environment.text(Self.relative) {
      guard path.hasPrefix("/"), Self.isPlain(path) else {
        throw StoreError.credentials(
          "\(Self.relative) is not a path", advice: "Correct \(Self.relative).")
      }
      url = "http://169.254.170.2" + path
    } else if let address = environment.text(Self.full) {
      guard Self.mayBeAsked(address) else {
        throw StoreError.credentials(
          "\(Self.full) is neither https nor an address of this machine or its host",
          advice: "Correct \(Self.full).")
      }
      url = address
    } else {
      return .nothing("\(Self.relative) is not set")
    }
    let headers = try authorization().map { [(name: "Authorization", value: $0)] } ?? []
    let service = CredentialService(
      name: "the container's credential service", transport: transport,
      secrets: SecretMask.secrets(in: headers))
    let response = try await service.send("GET", url, headers: headers)
    return .key(
      try service.key(in: response, advice: "Check the container's role."),
      origin: "the container's role")
  }

  /// Read each time, from the file first, because the host replaces it.
  private func authorization() throws -> String? {
    if let path = environment.text(Self.token + "_FILE") {
      return try SecretFile.read(path, named: Self.token + "_FILE")
    }
    return environment.text(Self.token)
  }

  /// Whether a URL may be requested: over TLS, or at an address that never leaves the host.
  static func mayBeAsked(_ url: String) -> Bool {
    guard isPlain(url), let colon = url.range(of: "://") else { return false }
    let authority = url[colon.upperBound...].prefix { !"/?#\\".contains($0) }
    guard !authority.isEmpty, !authority.contains("@") else { return false }
    switch url[..<colon.lowerBound].lowercased() {
    case "https": return true
    case "http":
      let isV6 = authority.hasPrefix("[")
      let host = isV6 ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
      return Loopback.isHost(host.lowercased())
        || ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"].contains(host)
    default: return false
    }
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
