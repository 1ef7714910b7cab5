import Foundation
package import HTTPTransport
import Platform

/// Opens the store at a URL; transient failures are retried.
///
/// Sends no request yet. Throws `StoreError` with `configuration` when the settings or the
/// environment contradict themselves.
///
/// - Parameters:
///   - url: The store's URL.
///   - settings: The settings of the configuration file.
///   - environment: The process's environment; overrides the settings.
///   - policy: How to retry.
package func openStore(
  _ url: StoreURL, settings: StoreSettings, environment: [String: String],
  policy: RetryPolicy = RetryPolicy()
) throws -> any ObjectStore {
  let store: any ObjectStore =
    switch url.kind {
    case .directory(let path): DirectoryStore(path: path, machine: settings.machine)
    case .webdav(let address): try openWebDAV(address, settings, environment: environment)
    case .s3(let bucket, let prefix):
      try openS3(
        bucket, prefix, settings, environment: environment, transport: settings.transport())
    }
  // Inside the retries, so that each attempt is logged.
  return RetryingStore(
    LoggingStore.wrapping(store, settings.logger), policy: policy, logger: settings.logger,
    random: settings.machine.fraction)
}

private func openWebDAV(
  _ address: String, _ settings: StoreSettings, environment: [String: String]
) throws -> WebDAVStore {
  let login: @Sendable () throws -> WebDAVCredentials? = {
    try WebDAVLogin.resolve(environment: environment, settings: settings, url: address)
  }
  return WebDAVStore(
    url: address, credentials: try login(), transport: try settings.transport(),
    random: settings.machine.random, reread: login)
}

extension StoreSettings {
  /// The transport that the settings describe.
  ///
  /// Throws `StoreError` with `configuration` for unusable certificates.
  package func transport() throws -> HTTPTransport {
    var options = HTTPTransport.Options()
    options.workers = max(1, transfers ?? StoreSettings.mostTransfers)
    options.connectTimeout = connectTimeout
    options.stallTimeout = stallTimeout
    options.proxy = proxy
    options.rateLimiter = limitRate.map { RateLimiter(bytesPerSecond: $0.bytes) }
    options.maximumRequests = maximumRequests
    options.tls = try tls()
    options.logger = logger
    options.secrets = secrets
    options.hasSecretTargets = hasSecretTargets
    return HTTPTransport(options)
  }
}
