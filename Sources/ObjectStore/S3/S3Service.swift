import Foundation

/// The address of an S3 service and of its buckets.
package struct S3Service: Sendable, Hashable {
  /// The URL of a service other than AWS, without a slash at the end; nil for AWS.
  package var endpoint: String?
  /// The region to sign for.
  package var region: String
  /// Whether the bucket is in the path; nil for the provider's default.
  package var pathStyle: Bool?
  /// The properties of the service.
  package let provider: S3Provider

  /// Makes a service.
  package init(endpoint: String? = nil, region: String = "us-east-1", pathStyle: Bool? = nil) {
    self.init(
      endpoint: endpoint, region: region, pathStyle: pathStyle, provider: Self.provider(endpoint))
  }

  init(endpoint: String?, region: String, pathStyle: Bool?, provider: S3Provider) {
    self.endpoint = endpoint
    self.region = region
    self.pathStyle = pathStyle
    self.provider = provider
  }

  /// The provider of an endpoint.
  private static func provider(_ endpoint: String?) -> S3Provider {
    provider(endpoint, knownBy: endpoint.flatMap { S3Host(host(of: $0)) })
  }

  /// The provider of an endpoint with a known host.
  private static func provider(_ endpoint: String?, knownBy host: S3Host?) -> S3Provider {
    if endpoint == nil { return S3Provider.named("aws") ?? .unknown }
    return host?.provider ?? .unknown
  }

  private static func host(of endpoint: String) -> String {
    String(authority(of: endpoint).prefix { $0 != ":" })
  }

  private static func authority(of endpoint: String) -> Substring {
    endpoint.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).first ?? ""
  }

  /// Determines endpoint and region from, in this order, the environment, the settings, the profile
  /// in the AWS files, the endpoint's name, and the table of providers.
  ///
  /// Throws `StoreError` with `configuration` for an endpoint that is not a URL, or is plain http
  /// where that is not allowed.
  package static func resolve(
    environment: [String: String], settings: StoreSettings.S3, allowsPlaintext: Bool = false
  ) throws -> S3Service {
    let profile = try AWSProfile.load(environment: environment, settings: settings)
    let named =
      environment.text("AWS_ENDPOINT_URL_S3") ?? environment.text("AWS_ENDPOINT_URL")
      ?? settings.endpoint ?? profile["endpoint_url"]
    let endpoint = try named.map { try checked($0, allowsPlaintext: allowsPlaintext) }
    let known = endpoint.flatMap { S3Host(host(of: $0)) }
    if let known, let bucket = known.bucket {
      throw refused(
        "the endpoint holds a bucket's name",
        "Write the endpoint as https://\(known.endpoint), and the bucket into the store's URL: "
          + "s3://\(bucket).")
    }
    var provider = Self.provider(endpoint, knownBy: known)
    if let id = settings.provider {
      guard let chosen = S3Provider.named(id) else {
        let ids = S3Provider.all.map(\.id).joined(separator: ", ")
        throw refused("unknown provider \(id)", "Set s3.provider to one of \(ids).")
      }
      provider = chosen
    }
    let region =
      environment.text("AWS_REGION") ?? environment.text("AWS_DEFAULT_REGION")
      ?? settings.region ?? profile["region"] ?? known?.region ?? provider.region
    guard isRegion(region) else {
      throw refused(
        "the region is not a name", "Set AWS_REGION to a name such as eu-central-1.")
    }
    return S3Service(
      endpoint: endpoint, region: region, pathStyle: settings.pathStyle, provider: provider)
  }

  /// Whether text is valid as a region in a host name and a signature.
  static func isRegion(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D
      }
  }

  /// An endpoint in its canonical form.
  ///
  /// Throws `configuration` unless it is `https://`, or `http://` on this machine or where that is
  /// allowed.
  static func checked(_ endpoint: String, allowsPlaintext: Bool = false) throws -> String {
    let url = try? StoreURL(endpoint, allowsPlaintext: allowsPlaintext, isEndpoint: true)
    guard case .webdav(let url) = url?.kind else {
      throw refused(
        "the endpoint is not valid",
        "Write the endpoint as https://host:port; http:// to another machine needs "
          + "--allow-plaintext or allow-plaintext: true.")
    }
    return url
  }

  static func refused(_ what: String, _ advice: String) -> StoreError {
    StoreError(.configuration, operation: "open", target: "s3", response: what, advice: advice)
  }

  /// The scheme and authority, and the path before the key, for a bucket.
  func address(_ bucket: String, region: String) -> (origin: String, path: String) {
    if let point = S3AccessPoint(bucket) { return ("https://\(point.host)", "") }
    if let endpoint {
      let parts = endpoint.split(separator: "/", omittingEmptySubsequences: false)
      let origin = parts.prefix(3).joined(separator: "/")
      let path = parts.dropFirst(3).map { "/\($0)" }.joined()
      // A certificate covers one label only.
      let fits = !bucket.contains(".") || pathStyle == false
      if pathStyle ?? (provider.addressing == .path) || !fits {
        return (origin, "\(path)/\(bucket)")
      }
      return ("\(parts[0])//\(bucket).\(Self.authority(of: endpoint))", path)
    }
    let host = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    guard pathStyle != true, !bucket.contains(".") else { return ("https://\(host)", "/\(bucket)") }
    return ("https://\(bucket).\(host)", "")
  }
}
