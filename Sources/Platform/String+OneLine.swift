extension Unicode.Scalar {
  /// Whether the character is not seen itself, but may change what is: control characters, also those
  /// of C1, joiners and marks of direction, separators of lines and paragraphs.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: false
    }
  }
}

extension String {
  /// Text from outside made safe for one line of a terminal or a log: line ends and tabs become
  /// blanks, other characters that are not visible become escapes, such as `\u{1b}`.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - limit: how many of its scalars are taken; where it has more, an ellipsis follows.
  package init(oneLine text: some StringProtocol, limit: Int = .max) {
    var result = ""
    var length = 0
    for scalar in text.unicodeScalars {
      if length >= limit {
        result += "…"
        break
      }
      length += 1
      switch scalar {
      case "\n", "\r", "\t": result += " "
      case _ where scalar.isInvisible || scalar.properties.generalCategory == .privateUse:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    self = result
  }
}
