/// A host name known to belong to an S3 service.
struct S3Host: Equatable {
  let provider: S3Provider
  /// The bucket in front of the endpoint; nil for the endpoint itself.
  let bucket: String?
  /// The host of the endpoint.
  let endpoint: String
  /// The region in the name.
  let region: String?

  /// Recognises a host name by the table's patterns; nil if none matches.
  ///
  /// Among several, the one that leaves the shortest bucket wins, then the plainest.
  init?(_ host: String, among providers: [S3Provider] = S3Provider.all) {
    let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard !labels.contains("") else { return nil }
    var best: (rank: (Int, Int), host: S3Host)?
    for provider in providers {
      for pattern in provider.hosts {
        let parts = pattern.split(separator: ".")
        guard parts.count <= labels.count,
          let region = Self.region(labels.suffix(parts.count), parts, provider)
        else { continue }
        let rest = labels.count - parts.count
        let rank = (rest, -pattern.utf8.count + (region.isEmpty ? 0 : 100))
        guard best.map({ rank < $0.rank }) ?? true else { continue }
        let found = S3Host(
          provider: provider,
          bucket: rest > 0 ? labels.prefix(rest).joined(separator: ".") : nil,
          endpoint: labels.suffix(parts.count).joined(separator: "."),
          region: region.isEmpty ? nil : region)
        best = (rank, found)
      }
    }
    guard let best else { return nil }
    self = best.host
  }

  private init(provider: S3Provider, bucket: String?, endpoint: String, region: String?) {
    self.provider = provider
    self.bucket = bucket
    self.endpoint = endpoint
    self.region = region
  }

  /// Stands for the region in a pattern.
  private static let mark = "{region}"

  /// The region if the labels match the pattern, empty if they name none; nil if they do not match.
  private static func region(
    _ labels: ArraySlice<Substring>, _ parts: [Substring], _ provider: S3Provider
  ) -> String? {
    var region = ""
    for (label, part) in zip(labels, parts) where label != part {
      if part == "*" { continue }
      // Splitting by a string would take longer than the rest of an upload that finds nothing new.
      guard let brace = part.firstIndex(of: "{"), part[brace...].hasPrefix(mark) else { return nil }
      let (before, after) = (part[..<brace], part[brace...].dropFirst(mark.count))
      guard label.hasPrefix(before), label.hasSuffix(after),
        label.utf8.count > before.utf8.count + after.utf8.count
      else { return nil }
      let name = label.dropFirst(before.count).dropLast(after.count)
      guard !provider.notRegions.contains(where: name.hasPrefix) else { return nil }
      region = String(name)
    }
    return region
  }
}
