import HTTPTransport

/// What a login must be allowed to do in a store, in the words of that kind of store.
package struct NeededRights: Sendable {
  private let kind: StoreURL.Kind

  /// The rights for a store.
  package init(_ url: StoreURL) { kind = url.kind }

  /// The right that a check needs; nil where it needs none of its own.
  package func right(for check: ProbeFinding.Check) -> String? {
    switch (check, kind) {
    case (.create, .s3), (.overwrite, .s3), (.largestBody, .s3): "s3:PutObject"
    case (.read, .s3), (.range, .s3): "s3:GetObject"
    case (.list, .s3): "s3:ListBucket"
    case (.listAfterWrite, .s3), (.delete, .s3): "s3:DeleteObject"
    case (.create, .webdav): "PUT, and MKCOL for folders that are missing"
    case (.overwrite, .webdav), (.largestBody, .webdav): "PUT"
    case (.read, .webdav), (.range, .webdav): "GET"
    case (.list, .webdav): "PROPFIND"
    case (.listAfterWrite, .webdav), (.delete, .webdav): "DELETE"
    case (_, .directory): "to read and write the folder"
    case (.conditional, _), (.clock, _): nil
    }
  }

  /// What grants all of them and nothing else: text to paste.
  package var grant: String {
    switch kind {
    case .s3(let bucket, let prefix): Self.policy(bucket: bucket, prefix: prefix)
    case .webdav:
      """
      Allow the user these methods below the folder: GET HEAD PUT DELETE MKCOL PROPFIND.
      nginx:  dav_methods PUT DELETE MKCOL; dav_ext_methods PROPFIND OPTIONS; create_full_put_path on;
      Apache: Require valid-user, without a <Limit> or <LimitExcept> that leaves one of them out.
      """
    case .directory(let path): "Give the user that uploads the folder: chown USER \(path)"
    }
  }

  /// An identity policy for AWS and what speaks its language, in the form of its user guide.
  private static func policy(bucket: String, prefix: String) -> String {
    let below = prefix.isEmpty ? "*" : "\(prefix)/*"
    return """
      {
        "Version": "2012-10-17",
        "Statement": [
          {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": "arn:aws:s3:::\(bucket)",
            "Condition": { "StringLike": { "s3:prefix": "\(below)" } }
          },
          {
            "Effect": "Allow",
            "Action": ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
            "Resource": "arn:aws:s3:::\(bucket)/\(below)"
          }
        ]
      }
      """
  }
}
