import Platform

extension String {
  /// Log bytes made harmless for a terminal: control characters, including C1 and those hidden in
  /// invalid UTF-8, and invisible characters become visible; newline and tab remain.
  package init(printable bytes: some Collection<UInt8>) {
    var out = ""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 0x0a, 0x09: out.unicodeScalars.append(scalar)
      case 0x0d: out += "␍"
      case 0..<0x20: out.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
      case 0x7f: out += "␡"
      case 0x80... where scalar.isInvisible:
        out += "\\u{\(String(scalar.value, radix: 16))}"
      default: out.unicodeScalars.append(scalar)
      }
    }
    self = out
  }
}
