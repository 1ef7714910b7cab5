import Foundation

/// Where an S3 service is and how its buckets are addressed.
public struct S3Service: Sendable, Hashable {
  /// The URL of a service other than AWS, without a slash at the end; nil for AWS.
  public var endpoint: String?
  /// The region to sign for.
  public var region: String
  /// Whether the bucket stands in the path; nil: yes for custom endpoints and dotted buckets.
  public var pathStyle: Bool?

  /// Makes a service.
  public init(endpoint: String? = nil, region: String = "us-east-1", pathStyle: Bool? = nil) {
    self.endpoint = endpoint
    self.region = region
    self.pathStyle = pathStyle
  }

  /// Finds endpoint and region: environment, then settings, then the profile in the AWS files.
  ///
  /// Throws `StoreError` with `configuration` for an endpoint that is no URL, or that would send
  /// everything in clear over a network.
  public static func resolve(environment: [String: String], settings: StoreSettings.S3) throws
    -> S3Service
  {
    let profile = try AWSProfile.load(environment: environment, settings: settings)
    let region =
      environment.text("AWS_REGION") ?? environment.text("AWS_DEFAULT_REGION")
      ?? settings.region ?? profile["region"] ?? "us-east-1"
    let isName = region.utf8.allSatisfy {
      ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D
    }
    guard isName, region.utf8.count <= 64 else {
      throw StoreError(
        .configuration, operation: "open", target: "s3", response: "the region is not a name",
        advice: "Set AWS_REGION to a name such as eu-central-1.")
    }
    let endpoint =
      environment.text("AWS_ENDPOINT_URL_S3") ?? environment.text("AWS_ENDPOINT_URL")
      ?? settings.endpoint ?? profile["endpoint_url"]
    return S3Service(
      endpoint: try endpoint.map(checked), region: region, pathStyle: settings.pathStyle)
  }

  private static func checked(_ endpoint: String) throws -> String {
    guard case .webdav(let url) = try? StoreURL(endpoint).kind else {
      throw StoreError(
        .configuration, operation: "open", target: "s3", response: "the endpoint is not valid",
        advice: "Write the endpoint as https://host:port (http:// only for this machine).")
    }
    return url
  }

  /// The scheme and authority, and the path before the key, for a bucket.
  func address(_ bucket: String, region: String) -> (origin: String, path: String) {
    if let endpoint {
      let parts = endpoint.split(separator: "/", omittingEmptySubsequences: false)
      let origin = parts.prefix(3).joined(separator: "/")
      let path = parts.dropFirst(3).map { "/\($0)" }.joined()
      if pathStyle != false { return (origin, "\(path)/\(bucket)") }
      return ("\(parts[0])//\(bucket).\(parts.dropFirst(2).first ?? "")", path)
    }
    let host = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    // The certificate of AWS covers one label only.
    guard pathStyle != true, !bucket.contains(".") else { return ("https://\(host)", "/\(bucket)") }
    return ("https://\(bucket).\(host)", "")
  }
}
