extension StoreURL {
  /// An access point, `s3://arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME/prefix`.
  static func accessPoint(_ text: String, _ authority: String, _ path: String) throws
    -> (Kind, String)
  {
    var segments = path.split(separator: "/").map(String.init)
    var arn = authority
    if authority.hasSuffix(":accesspoint"), !segments.isEmpty {
      arn += "/" + segments.removeFirst()
    }
    guard let point = S3AccessPoint(arn) else {
      throw refused(
        text, "not the ARN of an access point of a bucket in a region",
        advice: "Write s3://arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME/prefix; others, such as "
          + "those of several regions, are not supported.")
    }
    let bucket =
      "arn:\(point.partition):s3:\(point.region):\(point.account):accesspoint/\(point.name)"
    let prefix = segments.joined(separator: "/")
    try checkPrefix(prefix, of: text)
    return (
      .s3(bucket: bucket, prefix: prefix), (["s3://\(bucket)"] + segments).joined(separator: "/")
    )
  }

  /// Rejects the URL of a bucket as a browser shows it: no S3 service speaks WebDAV there.
  static func refuseBucketURL(_ text: String, _ authority: String, _ path: String) throws {
    let host = authority.prefix { $0 != ":" }
    guard !authority.contains("@"), let known = S3Host(String(host)) else { return }
    var segments = path.split(separator: "/").map(String.init)
    let bucket = known.bucket ?? (segments.isEmpty ? "bucket" : segments.removeFirst())
    var settings: [String] = []
    if known.provider.id != "aws" { settings.append("s3.endpoint: https://\(known.endpoint)") }
    if let region = known.region { settings.append("s3.region: \(region)") }
    let setting = settings.isEmpty ? "" : " and set \(settings.joined(separator: " and "))"
    throw refused(
      text, "this is a bucket of \(known.provider.name), not a WebDAV folder",
      advice: "Write \((["s3://\(bucket)"] + segments).joined(separator: "/"))\(setting).")
  }
}
