import HTTPTransport
import Platform

/// Opens a prefix in a bucket, without retries.
///
/// Throws `StoreError` with `configuration` when the settings or the environment contradict
/// themselves.
func openS3(
  _ bucket: String, _ prefix: String, _ settings: StoreSettings,
  environment: [String: String], transport: HTTPTransport
) throws -> S3Store {
  let service = try S3Service.resolve(
    environment: environment, settings: settings.s3, allowsPlaintext: settings.allowsPlaintext)
  if S3AccessPoint(bucket) != nil, service.endpoint != nil {
    throw S3Service.refused(
      "an access point of AWS, and an endpoint besides", "Leave the endpoint out.")
  }
  let credentials = try CredentialChain(
    environment: environment, settings: settings.s3, transport: transport,
    now: settings.machine.now)
  return S3Store(
    bucket: bucket, prefix: prefix, service: service, credentials: credentials,
    options: try S3ObjectOptions.resolve(settings.s3, service.provider), transport: transport,
    now: settings.machine.now)
}

/// Where a store's access key is found, such as `profile work in ~/.aws/credentials`, never the
/// key; nil for a store without one.
///
/// Contacts services that issue keys, but not the store. Throws `StoreError`, `configuration` if
/// there is no key.
package func credentialOrigin(
  _ url: StoreURL, settings: StoreSettings, environment: [String: String]
) async throws -> String? {
  guard case .s3 = url.kind else { return nil }
  return try await CredentialChain(
    environment: environment, settings: settings.s3,
    transport: settings.transport(), now: settings.machine.now
  ).origin()
}
