/// Levels as other programs write them.
extension Level {
  /// Parses a word that means a level only where a level is expected.
  ///
  /// - Parameter bytes: the whole word, in any case.
  init?(foreign bytes: UnsafeRawBufferPointer) {
    // `TRACE8` and `DEBUG5` are degrees of one level.
    let hasDegree = bytes.last.map { (0x31...0x39).contains($0) } ?? false
    let word = hasDegree ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes
    guard let level = Level(word) ?? Self.foreign[word] ?? Self.longest(word) else { return nil }
    self = level
  }

  /// Names too long for the table.
  private static func longest(_ word: UnsafeRawBufferPointer) -> Level? {
    guard word.count == 9 || word.count == 11 else { return nil }
    switch String(decoding: word, as: UTF8.self).uppercased() {
    case "EMERGENCY": return .fault
    case "INFORMATION": return .info
    default: return nil
    }
  }

  /// The level for a severity of RFC 5424.
  init(severity: Int) {
    switch severity & 7 {
    case 0...2: self = .fault
    case 3: self = .error
    case 4: self = .warning
    case 7: self = .debug
    default: self = .info
    }
  }

  /// The level for a number in a record: severities of syslog, tens of pino and bunyan, hundreds of
  /// Monolog.
  init(number: Int) {
    switch number {
    case ..<8: self.init(severity: max(0, number))
    case ..<20: self = .trace
    case ..<30: self = .debug
    case ..<40: self = .info
    case ..<50: self = .warning
    case ..<60: self = .error
    case ..<100: self = .fault
    case ..<200: self = .debug
    case ..<300: self = .info
    case ..<400: self = .warning
    case ..<500: self = .error
    default: self = .fault
    }
  }

  private static let foreign = LevelNames([
    ("VERBOSE", .trace), ("FINEST", .trace), ("FINER", .trace), ("TRC", .trace),
    ("VRB", .trace), ("FINE", .debug), ("DBG", .debug), ("CONFIG", .info), ("DEFAULT", .info),
    ("LOG", .info), ("INF", .info), ("WRN", .warning), ("SEVERE", .error), ("PANIC", .fault),
    ("DPANIC", .fault), ("ASSERT", .fault), ("FTL", .fault),
  ])
}
