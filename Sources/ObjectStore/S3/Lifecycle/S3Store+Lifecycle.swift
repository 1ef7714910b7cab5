import Crypto
import Foundation
import HTTPTransport

extension S3Store {
  /// States which objects other rules skip; sent back unchanged, because a PUT without it resets
  /// it.
  private static let transitionHeader = "x-amz-transition-default-minimum-object-size"

  /// The bucket's lifecycle configuration, and a header that belongs to it; nil if it has none.
  ///
  /// Throws `unsupported` for any other answer: some servers treat the request as a listing, and
  /// what they would do with a PUT is unknown.
  func lifecycle() async throws -> (document: LifecycleDocument, transition: String?)? {
    let call = S3Call(method: "GET", operation: "GET lifecycle", query: [("lifecycle", "")])
    guard service.provider.lifecycle else {
      throw unsupported("\(service.provider.name) has none of its kind")
    }
    let answer = try await answer(to: call, accepting: [404])
    let response = answer.response
    let failure = S3Failure(response)
    if response.status == 404 {
      if failure.code == "NoSuchLifecycleConfiguration" { return nil }
      throw failure.error(response, self.failure(call, hiding: answer.secrets), bucket: bucket)
    }
    guard let document = LifecycleDocument(response.body) else {
      let root = (try? XMLScanner.parse(response.body))?.name
      throw unsupported("the server answers \(root.map { "a \($0)" } ?? "something else") instead")
    }
    return (document, response.header(Self.transitionHeader))
  }

  /// Replaces the bucket's lifecycle configuration.
  func setLifecycle(_ document: LifecycleDocument, transition: String?) async throws {
    let digest = Data(Insecure.MD5.hash(data: document.bytes)).base64EncodedString()
    var call = S3Call(
      method: "PUT", operation: "PUT lifecycle", query: [("lifecycle", "")],
      headers: [
        (name: "Content-MD5", value: digest), (name: "Content-Type", value: "application/xml"),
      ], body: document.bytes)
    if let transition { call.headers.append((name: Self.transitionHeader, value: transition)) }
    _ = try await perform(call)
  }

  private func unsupported(_ why: String) -> StoreError {
    StoreError(
      .unsupported, operation: "GET lifecycle", target: "s3://\(bucket)", response: why,
      advice: "Use 'tidemark reap --remote --all-devices' now and then; nothing was changed.")
  }
}
