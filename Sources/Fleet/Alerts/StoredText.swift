import Platform

extension String {
  /// Outside text made safe for one line, as `String(oneLine:limit:)` does, of which no more is kept
  /// than fits into the file between passes: an escape is longer than the character it stands for.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - limit: maximum number of scalars of the text.
  ///   - bytes: maximum length of the result in JSON.
  init(storedLine text: some StringProtocol, limit: Int, bytes: Int) {
    let line = String(oneLine: text, limit: limit)
    guard line.storedLength > bytes else {
      self = line
      return
    }
    let end = "…"
    var room = bytes - end.storedLength
    var kept = String.UnicodeScalarView()
    for scalar in line.unicodeScalars {
      room -= scalar.storedLength
      guard room >= 0 else { break }
      kept.append(scalar)
    }
    self = String(kept) + end
  }

  /// Length in bytes as a text in JSON, without its quotes; none of its characters is a control
  /// character.
  var storedLength: Int { unicodeScalars.reduce(0) { $0 + $1.storedLength } }
}

extension Unicode.Scalar {
  /// Length in bytes in a text of JSON.
  fileprivate var storedLength: Int {
    switch self {
    case "\"", "\\": 2
    default: UTF8.width(self)
    }
  }
}
