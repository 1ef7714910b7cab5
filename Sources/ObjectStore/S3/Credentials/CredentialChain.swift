package import HTTPTransport
package import Platform

/// The access key by the chain of the AWS tools: environment, configuration, web identity, profile,
/// container, instance.
///
/// The first provider with a key counts; half of a key is an error. Nothing is stored on disk. A
/// temporary key is renewed some minutes before it expires, by one request for all waiting callers.
package actor CredentialChain: S3CredentialSource {
  private let links: [any CredentialLink]
  private let now: @Sendable () -> Timestamp
  private var found: Found?
  /// The earliest time of the next reading, unless no key works.
  private var nextReading = Timestamp(milliseconds: .min)
  private var missing: StoreError?
  private var reading: Task<Found, any Error>?

  /// A key and where it was found.
  private struct Found: Sendable {
    let key: S3Credentials
    let origin: String
  }

  /// How long before its expiration a key is renewed.
  static let margin = Duration.seconds(5 * 60)
  /// Minimum time between two readings that are not urgent.
  static let pause = Duration.seconds(60)

  /// Makes a chain, and reads the providers on this machine at once.
  ///
  /// - Parameters:
  ///   - environment: The process's environment.
  ///   - settings: The settings of the configuration file.
  ///   - transport: Carries requests to STS.
  ///   - now: The clock.
  /// - Throws: `StoreError` with `configuration` for half of a key.
  package init(
    environment: [String: String], settings: StoreSettings.S3, transport: HTTPTransport,
    now: @escaping @Sendable () -> Timestamp
  ) throws {
    let region = try S3Service.resolve(
      environment: environment, settings: settings, allowsPlaintext: true
    ).region
    try self.init(
      [
        EnvironmentCredentials(environment: environment), SettingsCredentials(settings: settings),
        WebIdentityCredentials(environment: environment, region: region, transport: transport),
        ProfileCredentials(environment: environment, settings: settings),
        ContainerCredentials(environment: environment),
        InstanceCredentials(environment: environment),
      ], now: now)
  }

  /// Makes a chain of these providers.
  init(_ links: [any CredentialLink], now: @escaping @Sendable () -> Timestamp) throws {
    self.links = links
    self.now = now
    for link in links {
      if let local = link as? any LocalCredentialLink {
        guard case .key(let key, let origin) = try local.findLocally() else { continue }
        found = Found(key: key, origin: origin)
        return
      }
      if link.isConfigured { return }
    }
  }

  /// See ``S3CredentialSource/credentials()``.
  package func credentials() async throws -> S3Credentials { try await current().key }

  /// Where the key was found, such as `profile work in ~/.aws/credentials`; never the key.
  ///
  /// Throws like ``credentials()``.
  package func origin() async throws -> String { try await current().origin }

  /// See ``S3CredentialSource/replacement(for:)``.
  package func replacement(for refused: S3Credentials) async -> S3Credentials? {
    if let found, !found.key.signsLike(refused) { return found.key }
    guard let better = try? await read().key, !better.signsLike(refused) else { return nil }
    return better
  }

  private func current() async throws -> Found {
    let date = now()
    if let found {
      // A key that expires earlier by the service's clock is refused then, and renewed for that
      // reason.
      let end = found.key.expiration?.assumingSynchronizedClocks ?? Timestamp(milliseconds: .max)
      let isDue = end - date <= Self.margin && date >= nextReading
      guard isDue || end <= date else { return found }
      do {
        return try await read()
      } catch  where end > date {
        return found
      }
    }
    // On a machine without a key, search once, not for every request.
    if let missing, date < nextReading { throw missing }
    return try await read()
  }

  private func read() async throws -> Found {
    if let reading { return try await reading.value }
    let task = Task { [links] in try await Self.first(of: links) }
    reading = task
    defer {
      reading = nil
      nextReading = now() + Self.pause
    }
    do {
      let result = try await task.value
      found = result
      missing = nil
      return result
    } catch let error as StoreError {
      missing = error.isTransient ? nil : error
      throw error
    }
  }

  private static func first(of links: [any CredentialLink]) async throws -> Found {
    var seen: [String] = []
    for link in links {
      switch try await link.find() {
      case .key(let key, let origin): return Found(key: key, origin: origin)
      case .nothing(let what): seen.append(what)
      }
    }
    throw StoreError.credentials(
      "no access key found: " + seen.joined(separator: "; "),
      advice: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in "
        + "~/.aws/credentials.")
  }
}
