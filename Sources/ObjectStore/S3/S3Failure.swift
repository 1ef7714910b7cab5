import Foundation
import HTTPTransport

/// What an S3 service says in an error document, and what it means.
struct S3Failure {
  /// The code, such as `NoSuchKey`; nil when there was no such document.
  var code: String?
  var message: String?
  /// The region that the bucket is in, when the answer tells.
  var region: String?
  /// The server's clock, when the answer tells.
  var serverTime: Date?

  /// Reads an answer's headers, and its body when that is an error document.
  init(_ response: HTTPResponse) {
    let root = try? XMLScanner.parse(response.body)
    self.init(
      root?.name == "Error" ? root : nil, region: response.header("x-amz-bucket-region"),
      serverTime: response.header("Date").flatMap(HTTPDate.parse))
  }

  /// Reads an `Error` element.
  ///
  /// Only these fields: others echo the signed request and tokens.
  init(_ element: XMLElement?, region: String? = nil, serverTime: Date? = nil) {
    func text(_ name: String) -> String? {
      element?.child(name).flatMap { $0.text.isEmpty ? nil : $0.text }
    }
    code = text("Code")
    message = text("Message")
    self.region = region ?? text("Region")
    self.serverTime = text("ServerTime").flatMap(HTTPDate.parse) ?? serverTime
  }

  /// Whether a 2xx answer is an error in disguise.
  static func isError(_ response: HTTPResponse) -> Bool {
    guard !response.body.isEmpty, let root = try? XMLScanner.parse(response.body) else {
      return false
    }
    return root.name == "Error"
  }

  /// The error for the user; `bucket` stands in the advice.
  func error(_ response: HTTPResponse, _ failure: HTTPFailure, bucket: String) -> StoreError {
    let detail = [code, message].compactMap { $0 }.joined(separator: ": ")
    guard let (meaning, advice) = meaning(bucket) else {
      // An error document in a 200 without a code that is known: nothing was proven.
      if (200..<300).contains(response.status) {
        return failure.error(
          response, .transient, detail: detail, advice: "Try again later.")
      }
      // A bucket that has just been made is not known everywhere for a while.
      if response.status == 307 {
        return failure.error(response, .transient, detail: detail, advice: "Try again later.")
      }
      return failure.error(response, detail: detail)
    }
    return failure.error(response, meaning, detail: detail, advice: advice)
  }

  private func meaning(_ bucket: String) -> (StoreError.Code, String)? {
    switch code {
    case "NoSuchKey", "NoSuchVersion": (.notFound, "")
    case "NoSuchBucket", "InvalidBucketName", "AllAccessDisabled":
      (.configuration, "Create the bucket \(bucket), or correct store:.")
    case "InvalidAccessKeyId":
      (.authentication, "Check the access key id; it is not known at this endpoint.")
    case "SignatureDoesNotMatch":
      (.authentication, "Check the secret access key.")
    case "AccessDenied", "AccountProblem", "NotSignedUp":
      (.authentication, "Give this key the right to read, write, list and delete in \(bucket).")
    case "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "ExpiredTokenException":
      (.authentication, "The session token is no longer valid; get new credentials.")
    case "RequestTimeTooSkewed":
      (.configuration, "Set this machine's clock.")
    case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
      (.configuration, "Set the region\(region.map { " to \($0)" } ?? "") and check the endpoint.")
    case "XMinioStorageFull", "QuotaExceeded", "EntityTooLargeForQuota":
      (.full, "Free some space on the store.")
    case "EntityTooLarge": (.tooLarge, "Raise the size limit of the server.")
    case "RequestTimeout", "OperationAborted", "SlowDown", "SlowDownRead", "SlowDownWrite",
      "InternalError", "BadDigest", "ServiceUnavailable", "TooManyRequests", "RequestLimitExceeded",
      "XAmzContentSHA256Mismatch", "IncompleteBody", "TemporaryRedirect", "Throttling":
      (.transient, "Try again later.")
    case "PreconditionFailed", "ConditionalRequestConflict", "InvalidObjectState":
      (.conflict, "Something else is in the way; look at the store.")
    case "MethodNotAllowed", "NotImplemented":
      (.unsupported, "The server does not know this request; check the endpoint.")
    default: nil
    }
  }
}
