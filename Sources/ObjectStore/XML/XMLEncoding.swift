/// Rejects documents in encodings that would be misread.
enum XMLEncoding {
  /// The byte order mark of UTF-8.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Why a document cannot be read; nil if it is UTF-8 or ASCII.
  static func refusal(of bytes: [UInt8]) -> String? {
    // The table in appendix F of XML 1.0: how `<?` begins in encodings that are not a superset of
    // ASCII.
    let wide: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE], [0x00], [0x3C, 0x00], [0x4C, 0x6F]]
    if wide.contains(where: bytes.starts) { return "another encoding than UTF-8" }
    guard let name = declared(bytes.prefix(256)), !["utf-8", "utf8", "us-ascii"].contains(name)
    else { return nil }
    return bytes.allSatisfy { $0 < 0x80 } ? nil : "another encoding than UTF-8"
  }

  /// The encoding in the declaration, in lower case.
  private static func declared(_ start: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: start, as: UTF8.self).lowercased()
    guard let open = text.firstRange(of: "<?xml"), let close = text.firstRange(of: "?>"),
      open.upperBound < close.lowerBound
    else { return nil }
    let declaration = text[open.upperBound..<close.lowerBound]
    guard let key = declaration.firstRange(of: "encoding") else { return nil }
    let quotes: Set<Character> = ["\"", "'"]
    let parts = declaration[key.upperBound...].split(
      omittingEmptySubsequences: false, whereSeparator: quotes.contains)
    return parts.count >= 3 ? String(parts[1]) : nil
  }
}
