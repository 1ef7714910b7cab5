/// A change with which a refused request is repeated at once.
enum S3Action: Sendable {
  /// Sign for the bucket's region.
  case fixRegion
  /// Send this one request to another host.
  case redirectOnce
  /// Sign with the server's time.
  case clock
  /// Get another key.
  case reauth
}

/// The meaning of one code of an error document.
struct S3Meaning {
  /// Nil if no change of the request helps.
  let action: S3Action?
  /// The error's kind, if nothing else helps.
  let error: StoreError.Code
  /// Advice for the user, with `BUCKET` and `REGION` as placeholders.
  let advice: String

  /// The meaning of a code; nil if it is unknown and the status has to decide.
  static func of(_ code: String) -> S3Meaning? {
    if let known = table[code] { return known }
    // Services use names of their own for this.
    let isFull = ["quota", "storagefull", "insufficientstorage", "capexceeded"].contains {
      code.lowercased().contains($0)
    }
    return isFull
      ? S3Meaning(action: nil, error: .full, advice: "Free some space on the store.") : nil
  }

  private static let later = "Try again later."
  private static let slower = "Try again later, or with fewer transfers at once."

  private static let table: [String: S3Meaning] = {
    var table: [String: S3Meaning] = [:]
    for (action, error, advice, codes) in rows {
      for code in codes.split(separator: " ") {
        table[String(code)] = S3Meaning(action: action, error: error, advice: advice)
      }
    }
    return table
  }()

  /// The error codes of the S3 API reference, and those that users met with other services.
  private static let rows: [(S3Action?, StoreError.Code, String, String)] = [
    (nil, .notFound, "", "NoSuchKey NoSuchVersion NoSuchLifecycleConfiguration"),
    (
      nil, .configuration, "Create the bucket BUCKET, or correct store:.",
      "NoSuchBucket InvalidBucketName AllAccessDisabled NoSuchAccessPoint"
    ),
    (
      nil, .authentication,
      "Check the access key id; it is not known at this endpoint.",
      "InvalidAccessKeyId InvalidClientTokenId UnrecognizedClientException InvalidAccessKey"
    ),
    (
      nil, .authentication, "Check the secret access key.",
      "SignatureDoesNotMatch InvalidSignatureException InvalidSignature"
    ),
    (
      nil, .authentication,
      "Give this key the right to read, write, list and delete in BUCKET.",
      "AccessDenied AccountProblem NotSignedUp AccessForbidden Forbidden Unauthorized "
        + "UnauthorizedAccess AuthenticationRequired InvalidSecurity CrossLocationLoggingProhibited "
        + "InvalidPayer UserDisable AccessDeniedException"
    ),
    (
      .reauth, .authentication, "The session token is no longer valid; get new credentials.",
      "ExpiredToken InvalidToken TokenRefreshRequired ExpiredTokenException SecurityTokenExpired "
        + "InvalidSecurityToken"
    ),
    (
      .clock, .configuration, "Set this machine's clock.",
      "RequestTimeTooSkewed RequestExpired RequestInTheFuture"
    ),
    (
      .fixRegion, .configuration, "Set the regionREGION and check the endpoint.",
      "AuthorizationHeaderMalformed PermanentRedirect IllegalLocationConstraintException "
        + "InvalidRegionName InvalidRegion IncorrectEndpoint"
    ),
    (.redirectOnce, .transient, later, "TemporaryRedirect Redirect"),
    (nil, .full, "Free some space on the store.", "XMinioStorageFull"),
    (
      nil, .tooLarge, "Raise the size limit of the server.",
      "EntityTooLarge MaxMessageLengthExceeded RequestEntityTooLarge"
    ),
    (
      nil, .overloaded, slower,
      "SlowDown SlowDownRead SlowDownWrite ServiceUnavailable Busy TooManyRequests "
        + "TooManyRequestsException RequestLimitExceeded Throttling ThrottlingException "
        + "RequestThrottled RequestThrottledException BandwidthLimitExceeded QpsLimitExceeded "
        + "RateLimitExceeded rateLimitExceeded ProvisionedThroughputExceededException "
        + "RequestRateTooHigh PriorRequestNotComplete"
    ),
    (
      nil, .transient, later,
      "RequestTimeout RequestTimeoutException OperationAborted InternalError InternalFailure "
        + "InternalServerError ServerTimeout TemporarilyUnavailable "
        + "ClientDisconnected ConditionalRequestConflict GatewayTimeout BadGateway "
        + "XMinioServerNotInitialized XMinioBackendDown RemoteError"
    ),
    (
      nil, .damaged, "Look for what changes bytes between this machine and the server.",
      "BadDigest XAmzContentSHA256Mismatch XAmzContentChecksumMismatch ContentSHA256Mismatch "
        + "IncompleteBody"
    ),
    (
      nil, .conflict, "Something else is in the way; look at the store.",
      "PreconditionFailed ConditionNotMatch FileAlreadyExists FileImmutable"
    ),
    (
      nil, .conflict, "Something else is in the way; look at the store.",
      "InvalidObjectState ObjectLocked BucketNotEmpty BucketAlreadyExists "
        + "BucketAlreadyOwnedByYou"
    ),
    (nil, .transient, later, "NoSuchUpload InvalidPart InvalidPartOrder"),
    (
      nil, .unsupported, "The server does not know this request; check the endpoint.",
      "MethodNotAllowed NotImplemented UnsupportedOperation"
    ),
    (
      nil, .configuration, "Correct the settings under s3:.",
      "InvalidStorageClass InvalidEncryptionAlgorithmError KMS.NotFoundException "
        + "KMS.DisabledException KMS.InvalidStateException InvalidEndpoint InvalidHost "
        + "SecondLevelDomainForbidden"
    ),
  ]

  /// The change for a status without a known code.
  static func action(status: Int) -> S3Action? {
    switch status {
    case 301: .fixRegion
    case 307: .redirectOnce
    default: nil
    }
  }
}
