import Foundation
import HTTPTransport
import Platform

/// Opens the store at a URL, with retries of what is transient.
///
/// Nothing is contacted yet. Throws `StoreError` with `configuration` when the settings or the
/// environment contradict themselves.
///
/// - Parameters:
///   - url: Where the store is.
///   - settings: What the configuration file says.
///   - environment: The process's environment; overrides the settings.
///   - policy: How often to try again.
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
        bucket, prefix, settings, environment: environment, transport: transport(settings))
    }
  // Inside of the retries, so that each attempt is seen.
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
    url: address, credentials: try login(), transport: try transport(settings),
    random: settings.machine.random, reread: login)
}

/// What carries requests as the settings say.
///
/// Throws `StoreError` with `configuration` for certificates that cannot be used.
func transport(_ settings: StoreSettings) throws -> HTTPTransport {
  var options = HTTPTransport.Options()
  options.workers = max(1, settings.transfers ?? StoreSettings.mostTransfers)
  options.connectTimeout = settings.connectTimeout
  options.stallTimeout = settings.stallTimeout
  options.proxy = settings.proxy
  options.pace = settings.limitRate.map { Pace(bytesPerSecond: $0.bytes) }
  options.maximumRequests = settings.maximumRequests
  options.tls = try settings.tls()
  options.logger = settings.logger
  options.secrets = settings.secrets
  return HTTPTransport(options)
}
