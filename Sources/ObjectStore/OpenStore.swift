import Foundation
import HTTPTransport

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
  switch url.kind {
  case .directory(let path):
    return RetryingStore(DirectoryStore(path: path), policy: policy)
  case .webdav(let address):
    let login: @Sendable () throws -> WebDAVCredentials? = {
      try WebDAVLogin.resolve(environment: environment, settings: settings, url: address)
    }
    return RetryingStore(
      WebDAVStore(
        url: address, credentials: try login(), transport: try transport(settings), reread: login),
      policy: policy)
  case .s3(let bucket, let prefix):
    return RetryingStore(
      try openS3(
        bucket, prefix, settings, environment: environment, transport: transport(settings)),
      policy: policy)
  }
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
  options.pace = settings.limitRate.map { Pace(bytesPerSecond: $0) }
  options.maximumRequests = settings.maximumRequests
  options.tls = try settings.tls()
  return HTTPTransport(options)
}
