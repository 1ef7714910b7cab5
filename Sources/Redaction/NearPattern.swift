import Foundation

/// The regular expression of a custom rule, limited to so few bytes and steps that it cannot stall
/// a log.
///
/// Bytes are treated as Latin-1, so that one character is one byte; a letter beyond ASCII is as
/// many characters as it has bytes in UTF-8.
struct NearPattern: Sendable {
  /// Stream offsets are divided into cells of this length: an expression is tried once per line and
  /// cell that contains its literal, so that many literals cost no more than one.
  static let cell = 2048
  /// Bytes before and after the cell that the expression sees.
  static let margin = 1024

  /// Maximum number of steps in units of 10,000, after each of which ICU reports.
  private static let patience = 20

  private let expression: NSRegularExpression

  init(_ pattern: String) throws(RedactionError) {
    let bytes = String(pattern.utf8.map { Character(Unicode.Scalar($0)) })
    do {
      let groups = try NSRegularExpression(pattern: bytes).numberOfCaptureGroups
      // Characters skipped before a match count as steps too, and the wanted range is group 1.
      expression = try NSRegularExpression(
        pattern: groups > 0 ? "[\\s\\S]*?(?:\(bytes))" : "[\\s\\S]*?(\(bytes))")
    } catch {
      throw RedactionError("invalid regular expression '\(pattern)'")
    }
  }

  /// The matches.
  ///
  /// - Returns: ranges in `bytes`; the whole of them if the expression exceeds its steps: better to
  ///   mask too much than too little.
  func matches(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
    let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    var found: [Range<Int>] = []
    var reports = 0
    var start = 0
    while start < bytes.count {
      var match: NSTextCheckingResult?
      expression.enumerateMatches(
        in: text,
        options: [.anchored, .reportProgress, .withTransparentBounds, .withoutAnchoringBounds],
        range: NSRange(location: start, length: bytes.count - start)
      ) { result, _, stop in
        match = result ?? match
        reports += result == nil ? 1 : 0
        if result != nil || reports > Self.patience { stop.pointee = true }
      }
      guard reports <= Self.patience else { return [0..<bytes.count] }
      guard let match else { break }
      let secret = match.range(at: 1)
      if secret.location != NSNotFound, secret.length > 0 {
        found.append(secret.location..<secret.location + secret.length)
      }
      start = max(start + 1, match.range.location + match.range.length)
    }
    return found
  }
}
