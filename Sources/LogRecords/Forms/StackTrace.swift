/// Recognizes unindented lines of stack traces.
enum StackTrace {
  /// How unlogged crashes of programs start.
  private static let openings: [(text: StaticString, level: Level)] = [
    ("Traceback (most recent call last)", .error), ("Exception in thread ", .error),
    ("panic: ", .fault), ("fatal error: ", .fault), ("Fatal error: ", .fault),
  ]

  /// How lines start that continue a trace of Java, Python, Go, Rust or Swift.
  private static let continuations: [StaticString] = [
    "Caused by: ", "Suppressed: ", "During handling of the above exception",
    "The above exception was the direct cause", "[signal ", "goroutine ", "created by ",
    "exit status ", "stack backtrace:", "note: run with ", "*** ", "Backtrace ", "Registers:",
    "Images (", "Stack dump:", "Current stack trace:",
  ]

  /// The same, before a number.
  private static let numbered: [StaticString] = ["... ", "Thread "]

  /// The level of a line that starts a crash; nil for any other.
  static func opening(_ line: ByteScanner) -> Level? {
    if let found = openings.first(where: { line.startsWith($0.text) }) { return found.level }
    // `thread 'main' panicked at …` of Rust, `app/File.swift:12: Fatal error: …` of Swift.
    if line.startsWith("thread '") { return contains("' panicked at ", line) ? .fault : nil }
    return contains(": Fatal error: ", line) ? .fault : nil
  }

  /// The level of a line that starts with an exception's name: `java.io.IOException: …`,
  /// `ValueError`.
  static func exception(_ line: ByteScanner) -> Level? {
    let bytes = line.bytes
    let name = bytes.prefix { $0 != 0x3a && !ByteScanner.isSpace($0) }
    guard name.count <= 256, name.endIndex == bytes.count || bytes[name.endIndex] == 0x3a,
      name.suffix(9).elementsEqual("Exception".utf8) || name.suffix(5).elementsEqual("Error".utf8),
      name.allSatisfy({
        ByteScanner.isLetter($0) || ByteScanner.isDigit($0) || [0x24, 0x2e, 0x5f].contains($0)
      })
    else { return nil }
    return .error
  }

  /// Whether a line continues the trace of an error.
  static func continues(_ line: ByteScanner) -> Bool {
    continuations.contains { line.startsWith($0) } || isCall(line.bytes) || isFrame(line)
      || numbered.contains {
        line.startsWith($0) && ByteScanner.isDigit(line.byte(at: $0.utf8CodeUnitCount))
      }
  }

  /// `net/http.(*conn).serve(0xc0001, {0x7f, 0x2})`: a Go function with its arguments; also `at
  /// Object.run (file.js:1)`.
  private static func isCall(_ line: UnsafeRawBufferPointer) -> Bool {
    guard line.last == 0x29, let open = line.firstIndex(of: 0x28) else { return false }
    if ByteScanner(line).startsWith("at ") { return true }
    let name = line[..<open]
    return name.contains(0x2e) && name.allSatisfy { !ByteScanner.isSpace($0) }
  }

  /// `0 [ra] 0x00005581 main + 12 in app`, `#3 0x00005581 in main`: a number, then an address.
  private static func isFrame(_ line: ByteScanner) -> Bool {
    var scanner = line
    _ = scanner.consume("#")
    let digits = scanner.digitRun(limit: 4)
    scanner.index += digits
    guard digits > 0, scanner.takeSpaces() else { return false }
    if scanner.next == 0x5b {
      _ = scanner.word()
      scanner.takeSpaces()
    }
    return scanner.startsWith("0x")
  }

  private static func contains(_ text: StaticString, _ line: ByteScanner) -> Bool {
    var scanner = line
    let end = min(line.bytes.count, 256)
    while let colon = scanner.position(of: text.first, within: max(0, end - scanner.index)) {
      scanner.index = colon
      if scanner.startsWith(text) { return true }
      scanner.index += 1
    }
    return false
  }
}

extension StaticString {
  /// The first character of an ASCII text.
  fileprivate var first: Unicode.Scalar { Unicode.Scalar(utf8Start.pointee) }
}
