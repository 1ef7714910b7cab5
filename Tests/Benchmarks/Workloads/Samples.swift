import TestSupport

/// Generated input, the same in every run.
enum Samples {
  /// A session's folder in the store.
  static let folder = "devices/e7ai95i13pgofqng/2026-01-22/"

  /// Whole records of a log, and a part of the last one.
  static func log(_ length: Int) -> [UInt8] {
    var generator = SeededGenerator(case: 1)
    let words = ["orders", "customers", "invoices", "search", "login", "health"]
    var text: [UInt8] = []
    var milliseconds = 0
    while text.count < length {
      milliseconds += Int.random(in: 0..<128, using: &generator)
      let second = padded(milliseconds / 1000 % 60, 2)
      let clock = "\(padded(milliseconds / 60_000 % 60, 2)):\(second)"
      let word = words.randomElement(using: &generator) ?? ""
      let number = Int.random(in: 0..<1_000_000, using: &generator)
      let line =
        "2026-01-22T14:\(clock).\(padded(milliseconds % 1000, 3))Z [INFO] [stdout] "
        + "GET /api/v2/\(word)/\(number) 200 \(number % 80)ms client=10.0.0.\(number % 30)\n"
      text += line.utf8
    }
    return Array(text.prefix(length))
  }

  /// Keys of segments.
  static func keys(_ count: Int) -> [String] {
    (0..<count).map { number in
      let start = padded(number * 4096, 12)
      let end = padded(number * 4096 + 4096, 12)
      return folder
        + "20260122t143005z-k3f9a7c2.g1.\(start)-\(end).7ddb15960a101294.700.log.zst"
    }
  }

  /// S3's answer to a listing.
  static func s3Listing(_ count: Int) -> [UInt8] {
    let contents = keys(count).map { key in
      """
      <Contents><Key>prefix/\(key)</Key><LastModified>2026-01-22T14:30:05.123Z</LastModified>\
      <ETag>&quot;9e107d9d372bb6826bd81d3542a419d6&quot;</ETag><Size>700</Size>\
      <StorageClass>STANDARD</StorageClass></Contents>
      """
    }
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>logs</Name>\
      <EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>\(contents.joined())\
      </ListBucketResult>
      """
    return Array(text.utf8)
  }

  /// A WebDAV server's answer to PROPFIND.
  static func multiStatus(_ count: Int) -> [UInt8] {
    let responses = keys(count).map { key in
      """
      <D:response><D:href>/dav/\(key)</D:href><D:propstat><D:prop>\
      <D:getlastmodified>Thu, 22 Jan 2026 14:30:05 GMT</D:getlastmodified>\
      <D:getetag>"1a2b-700-5f"</D:getetag><D:getcontentlength>700</D:getcontentlength>\
      <D:resourcetype/></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
      """
    }
    let text = """
      <?xml version="1.0" encoding="utf-8"?>
      <D:multistatus xmlns:D="DAV:">\(responses.joined())</D:multistatus>
      """
    return Array(text.utf8)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
