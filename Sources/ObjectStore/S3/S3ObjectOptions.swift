/// Options requested for every stored object.
struct S3ObjectOptions: Sendable {
  /// The headers of a PUT.
  var headers: [(name: String, value: String)] = []
}

extension S3ObjectOptions {
  /// The options in the settings.
  ///
  /// Throws `StoreError` with `configuration` if they contradict themselves or the provider.
  static func resolve(_ settings: StoreSettings.S3, _ provider: S3Provider) throws
    -> S3ObjectOptions
  {
    var options = S3ObjectOptions()
    if let encryption = settings.serverSideEncryption {
      guard ["AES256", "aws:kms", "aws:kms:dsse"].contains(encryption) else {
        throw S3Service.refused(
          "s3.server-side-encryption knows no \(encryption)", "Set it to AES256 or aws:kms.")
      }
      options.headers.append((name: "x-amz-server-side-encryption", value: encryption))
    }
    if let key = settings.kmsKeyID {
      guard settings.serverSideEncryption?.hasPrefix("aws:kms") == true else {
        throw S3Service.refused(
          "s3.kms-key-id is set, but s3.server-side-encryption is not aws:kms",
          "Set s3.server-side-encryption to aws:kms.")
      }
      options.headers.append((name: "x-amz-server-side-encryption-aws-kms-key-id", value: key))
    }
    if let storage = settings.storageClass {
      let known = provider.storageClasses
      let isArchive = ["GLACIER", "DEEP_ARCHIVE"].contains(storage)
      guard !isArchive, known.isEmpty || known.contains(storage) else {
        throw S3Service.refused(
          "\(provider.name) has no storage class \(storage) whose objects can be read at once",
          known.isEmpty
            ? "Leave s3.storage-class out."
            : "Set s3.storage-class to one of \(known.joined(separator: ", ")).")
      }
      options.headers.append((name: "x-amz-storage-class", value: storage))
    }
    return options
  }
}
