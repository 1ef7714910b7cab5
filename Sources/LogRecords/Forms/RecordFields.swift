/// The fields of a record found so far.
struct RecordFields {
  private var time: WrittenTime?
  private var level: Level?
  private var category: Range<Int>?
  private var message: Range<Int>?
  /// Whether a level came as a word, which is more precise than a number.
  private var hasWord = false

  /// Whether the fields prove that this is a record.
  var proveRecord: Bool { time != nil || level != nil }

  /// Whether all fields have been found.
  var areComplete: Bool { hasWord && time != nil && category != nil && message != nil }

  /// Adds a field; the first one counts among fields with the same meaning.
  mutating func add(_ name: Range<Int>, _ value: Range<Int>, in scanner: ByteScanner) {
    guard let key = RecordKey(scanner.slice(name)), !value.isEmpty else { return }
    switch key {
    case .time where time == nil:
      let bytes = scanner.slice(value)
      var inside = ByteScanner(bytes)
      time = EpochTime.parse(bytes) ?? inside.time()
    case .level where !hasWord:
      let bytes = scanner.slice(value)
      if let word = Level(foreign: bytes) {
        level = word
        hasWord = true
      } else if level == nil, let number = Self.number(bytes) {
        level = Level(number: number)
      }
    case .severity where level == nil:
      level = Self.number(scanner.slice(value)).flatMap { $0 < 8 ? Level(severity: $0) : nil }
    case .category where category == nil: category = value
    case .message where message == nil: message = value
    default: break
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var scanner = ByteScanner(bytes)
    guard (1...3).contains(bytes.count) else { return nil }
    return scanner.number(bytes.count)
  }

  func head(of line: UnsafeRawBufferPointer) -> RecordHead {
    RecordHead(time, level, category: category, message: message ?? 0..<line.count, in: line)
  }
}
