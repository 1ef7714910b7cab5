/// An AWS access point, used in place of a bucket name.
struct S3AccessPoint: Equatable {
  let partition: String
  let region: String
  let account: String
  let name: String

  /// Reads `arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME`, or a colon before the name.
  init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0] == "arn", ["aws", "aws-cn", "aws-us-gov"].contains(parts[1]),
      parts[2] == "s3", Self.isLabel(parts[3]), parts[4].utf8.count == 12,
      parts[4].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let kind = parts[5].prefix { $0 != "/" && $0 != ":" }
    let name = parts[5].dropFirst(kind.count + 1)
    guard kind == "accesspoint", Self.isLabel(name), name.utf8.count <= 50 else { return nil }
    partition = String(parts[1])
    region = String(parts[3])
    account = String(parts[4])
    self.name = String(name)
  }

  /// Its host.
  var host: String {
    let domain = partition == "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com"
    return "\(name)-\(account).s3-accesspoint.\(region).\(domain)"
  }

  private static func isLabel(_ text: Substring) -> Bool {
    !text.isEmpty && !text.hasPrefix("-") && !text.hasSuffix("-")
      && text.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
      }
  }
}
