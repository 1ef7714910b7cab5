extension Unicode.Scalar {
  /// Whether the character is invisible, but may affect what is visible or hide text: control
  /// characters, including C1, joiners and marks of direction, separators of lines and paragraphs,
  /// fillers and variation selectors.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
    default:
      switch value {
      // Choose between a text and an emoji form; frequent in ordinary text.
      case 0xfe0e, 0xfe0f: false
      // Stands for an object that is not there; a Braille pattern without dots.
      case 0xfffc, 0x2800: true
      default: properties.isDefaultIgnorableCodePoint
      }
    }
  }
}

extension String {
  /// Outside text made safe for one line of a terminal or a log: newlines and tabs become blanks,
  /// other invisible characters become escapes, such as `\u{1b}`.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - limit: maximum number of scalars; an ellipsis replaces the rest.
  package init(oneLine text: some StringProtocol, limit: Int = .max) {
    let bytes = text.utf8
    if bytes.count <= limit, bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) {
      self = String(text)
      return
    }
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
