import HTTPTransport
import Platform

/// Extracts the requested range from the answer to a GET.
enum RangedBody {
  /// The bytes of `range`.
  ///
  /// Servers answer 206 with the range, 200 with the range (rclone's S3), 200 with the whole
  /// object, or 416. Throws `integrity` if the answer has a different range, or is not the store's
  /// own.
  static func cut(_ response: HTTPResponse, _ range: ByteRange?, _ failure: HTTPFailure) throws
    -> [UInt8]
  {
    if range?.header != nil, response.status == 416 { return [] }
    guard !response.isWebPage else { throw failure.garbage(response, "a web page") }
    guard !response.isPacked else { throw failure.packed(response) }
    guard let range, range.header != nil else {
      guard response.status == 200 else {
        throw failure.garbage(response, "a piece, not the whole")
      }
      let size = ByteCount(response.body.count)
      if let refusal = range?.refusal(ofSize: size, failure.target) { throw refusal }
      return response.body
    }
    guard let header = response.header("Content-Range") else {
      guard response.status == 200 else { throw failure.garbage(response, "no Content-Range") }
      let part = range.resolved(size: ByteCount(response.body.count))
      return Array(response.body[Int(part.lowerBound)..<Int(part.upperBound)])
    }
    let sizeText = header.split(separator: "/").last.flatMap { ByteCount($0) }
    guard let start = header.split(separator: "-").first?.split(separator: " ").last,
      let offset = Int64(start), let size = sizeText, size >= 0,
      case let part = range.resolved(size: size), part.lowerBound == offset,
      part.count == response.body.count
    else { throw failure.garbage(response, "another piece than the one asked for") }
    return response.body
  }
}
