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
public func openStore(
  _ url: StoreURL, settings: StoreSettings, environment: [String: String]
) throws -> any ObjectStore {
  var options = HTTPTransport.Options()
  options.workers = max(1, settings.transfers)
  options.connectTimeout = settings.connectTimeout
  options.stallTimeout = settings.stallTimeout
  options.caFile = settings.caFile
  options.proxy = settings.proxy
  switch url.kind {
  case .directory(let path):
    return RetryingStore(DirectoryStore(path: path))
  case .webdav(let address):
    let login = try WebDAVLogin.resolve(environment: environment, settings: settings)
    options.netrc = login == nil
    return RetryingStore(
      WebDAVStore(url: address, login: login, transport: HTTPTransport(options)))
  case .s3(let bucket, let prefix):
    let service = try S3Service.resolve(environment: environment, settings: settings.s3)
    let credentials = try S3Credentials.resolve(environment: environment, settings: settings.s3)
    return RetryingStore(
      S3Store(
        bucket: bucket, prefix: prefix, service: service, credentials: credentials,
        transport: HTTPTransport(options)))
  }
}
