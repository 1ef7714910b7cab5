/// The answer to a PROPFIND of depth 1, separated into the folder and its children.
///
/// References are compared after percent-decoding, segment by segment: servers differ in what they
/// encode, in the case of hex digits, in slashes, and in whether they include the host.
struct FolderAnswer {
  /// The status of the folder's own response, if any.
  private(set) var status: Int?
  /// The folder's direct children, by name; the first of two responses for one name.
  private(set) var children: [(name: String, entry: MultiStatus.Response)] = []

  /// Reads an answer; nil if it contains paths, and all are those of another folder.
  ///
  /// - Parameters:
  ///   - answer: The server's answer.
  ///   - url: The folder's URL.
  init?(_ answer: MultiStatus, of url: String) {
    let base = Self.segments(url) ?? []
    var names: Set<String> = []
    var sawFolder = false
    var strangers = 0
    for entry in answer.responses {
      // A name that is not UTF-8, or contains a slash, is not ours.
      guard var path = Self.segments(entry.href) else { continue }
      if !entry.href.hasPrefix("/"), !entry.href.contains("://") {
        path = base + path.drop { $0 == "." }
      }
      if path == base {
        sawFolder = true
        status = status ?? entry.status
        continue
      }
      guard path.starts(with: base) else {
        strangers += 1
        continue
      }
      guard path.count == base.count + 1 else { continue }
      if names.insert(path[base.count]).inserted { children.append((path[base.count], entry)) }
    }
    guard sawFolder || !children.isEmpty || strangers == 0 else { return nil }
  }

  /// The decoded segments of a path, or of a URL's path; nil if one is not UTF-8, or contains a
  /// slash.
  private static func segments(_ reference: String) -> [String]? {
    var rest = Substring(reference)
    if let scheme = reference.firstRange(of: "://"),
      reference[..<scheme.lowerBound].allSatisfy(\.isLetter)
    {
      let authority = reference[scheme.upperBound...]
      rest = authority.firstIndex(of: "/").map { authority[$0...] } ?? ""
    }
    var segments: [String] = []
    for part in rest.split(separator: "/") {
      guard let bytes = PercentEncoding.decode(part),
        let text = String(validating: bytes, as: UTF8.self), !text.contains("/")
      else { return nil }
      segments.append(text)
    }
    return segments
  }
}
