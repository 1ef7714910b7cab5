import HTTPTransport

/// The permissions a login needs in a store, in that store's terms.
package struct NeededRights: Sendable {
  private let kind: StoreURL.Kind

  /// The permissions for a store.
  package init(_ url: StoreURL) { kind = url.kind }

  /// The permission that a check needs; nil if it needs none of its own.
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

  /// A policy that grants exactly these permissions: text to paste.
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

  /// A policy that limits one device to its own objects: text to paste; nil if the store has no
  /// such thing.
  ///
  /// - Parameter device: the prefix of all its objects, `devices/<id>/`.
  package func deviceGrant(_ device: String) -> String? {
    guard case .s3(let bucket, let prefix) = kind else { return nil }
    let root = prefix.isEmpty ? "" : "\(prefix)/"
    return Self.policy([
      Self.statement(["s3:ListBucket"], bucket, condition: "\(root)\(device)*"),
      Self.statement(["s3:GetObject"], bucket, "\(root)tidemark.json"),
      // Without permission to delete, a stolen login destroys nothing, provided versions are kept.
      Self.statement(
        ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"], bucket, "\(root)\(device)*"),
    ])
  }

  /// An identity policy for AWS and compatible services, in the format of its user guide.
  private static func policy(bucket: String, prefix: String) -> String {
    let below = prefix.isEmpty ? "*" : "\(prefix)/*"
    return policy([
      statement(["s3:ListBucket"], bucket, condition: below),
      statement(["s3:PutObject", "s3:GetObject", "s3:DeleteObject"], bucket, below),
    ])
  }

  private static func policy(_ statements: [String]) -> String {
    """
    {
      "Version": "2012-10-17",
      "Statement": [
    \(statements.joined(separator: ",\n"))
      ]
    }
    """
  }

  /// - Parameters:
  ///   - keys: the objects; nil for the bucket itself.
  ///   - condition: the prefix of keys that may be listed; nil for none.
  private static func statement(
    _ actions: [String], _ bucket: String, _ keys: String? = nil, condition: String? = nil
  ) -> String {
    let names = actions.map { "\"\($0)\"" }.joined(separator: ", ")
    let list = actions.count == 1 ? names : "[\(names)]"
    let resource = "arn:aws:s3:::\(bucket)" + (keys.map { "/\($0)" } ?? "")
    let limit = condition.map {
      ",\n      \"Condition\": { \"StringLike\": { \"s3:prefix\": \"\($0)\" } }"
    }
    return """
          {
            "Effect": "Allow",
            "Action": \(list),
            "Resource": "\(resource)"\(limit ?? "")
          }
      """
  }
}
