#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A search pattern for lines: a POSIX extended expression, or a fixed text.
///
/// Lines are bytes: NUL and invalid UTF-8 are ordinary characters, and case is folded for ASCII
/// letters only.
///
/// ```swift
/// let pattern = try LinePattern("time-?out", ignoresCase: true)
/// let isFound = pattern.isFound(in: line)
/// ```
public final class LinePattern {
  private enum Form {
    case fixed([UInt8])
    /// The second finds a match anywhere from the beginning of the line; nil if the first cannot be
    /// part of another expression.
    case expression(UnsafeMutablePointer<regex_t>, anywhere: UnsafeMutablePointer<regex_t>?)
  }

  private let form: Form

  /// Compiles a pattern.
  ///
  /// - Parameters:
  ///   - text: one line.
  ///   - isFixed: whether it is a text rather than an expression.
  ///   - ignoresCase: whether to ignore the case of ASCII letters.
  /// - Throws: ``PatternError``.
  public init(_ text: String, isFixed: Bool = false, ignoresCase: Bool = false) throws {
    guard !text.utf8.contains(where: { $0 == 0 || $0 == 0x0a }) else {
      throw PatternError(pattern: text, reason: "it must be one line")
    }
    if isFixed, !ignoresCase {
      form = .fixed(Array(text.utf8))
      return
    }
    let flags = REG_EXTENDED | (ignoresCase ? REG_ICASE : 0)
    let (expression, isGroup) =
      isFixed ? (Self.escaped(text), true) : Self.withDigits(text)
    form = .expression(
      try Self.compile(expression, flags, of: text),
      anywhere: isGroup
        ? try? Self.compile("^.*(\(expression))", flags | REG_NOSUB, of: text) : nil)
  }

  private static func compile(
    _ text: String, _ flags: Int32, of pattern: String
  ) throws -> UnsafeMutablePointer<regex_t> {
    let expression = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
    let result = regcomp(expression, text, flags)
    guard result == 0 else {
      var message = [CChar](repeating: 0, count: 256)
      regerror(result, expression, &message, message.count)
      expression.deallocate()
      let bytes = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw PatternError(pattern: pattern, reason: String(decoding: bytes, as: UTF8.self))
    }
    return expression
  }

  deinit {
    guard case .expression(let expression, let anywhere) = form else { return }
    for expression in [expression, anywhere].compactMap(\.self) {
      regfree(expression)
      expression.deallocate()
    }
  }

  /// Length of a line, in bytes, from which on a match is looked for in one run: the system's search
  /// begins anew at each position, and takes time with the square of the length.
  private static let longLine = 512

  /// Whether there is a match in a line, in time proportional to its length.
  ///
  /// Expressions with back references take longer in long lines.
  ///
  /// - Parameter line: without its newline.
  public func isFound(in line: UnsafeRawBufferPointer) -> Bool {
    guard case .expression(_, let anywhere?) = form, line.count >= Self.longLine else {
      return match(in: line) != nil
    }
    return Self.match(anywhere, in: line, from: 0) != nil
  }

  /// The first match in a line.
  ///
  /// - Parameters:
  ///   - line: without its newline.
  ///   - start: position to start at.
  /// - Returns: its range in the line; may be empty.
  public func match(in line: UnsafeRawBufferPointer, from start: Int = 0) -> Range<Int>? {
    switch form {
    case .fixed(let text):
      return Self.find(text, in: line, from: start)
    case .expression(let expression, _):
      return Self.match(expression, in: line, from: start)
    }
  }

  private static func find(
    _ text: [UInt8], in line: UnsafeRawBufferPointer, from start: Int
  ) -> Range<Int>? {
    guard let first = text.first else { return start..<start }
    guard let base = line.baseAddress else { return nil }
    var place = start
    let last = line.count - text.count
    while place <= last, let found = memchr(base + place, Int32(first), last + 1 - place) {
      place = UnsafeRawPointer(found) - base
      if memcmp(found, text, text.count) == 0 { return place..<place + text.count }
      place += 1
    }
    return nil
  }

  private static func match(
    _ expression: UnsafePointer<regex_t>, in line: UnsafeRawBufferPointer, from start: Int
  ) -> Range<Int>? {
    guard let base = line.baseAddress else { return match(expression, [0], 0, 0) }
    guard memchr(base, 0, line.count) != nil else {
      return match(expression, base.assumingMemoryBound(to: CChar.self), start, line.count)
    }
    // The system's `.` does not match NUL. Replace it by 0xff, which no character of a pattern
    // contains.
    let copy = line.map { CChar(bitPattern: $0 == 0 ? 0xff : $0) }
    return match(expression, copy, start, copy.count)
  }

  private static func match(
    _ expression: UnsafePointer<regex_t>, _ text: UnsafePointer<CChar>, _ start: Int, _ end: Int
  ) -> Range<Int>? {
    var found = regmatch_t()
    found.rm_so = regoff_t(start)
    found.rm_eo = regoff_t(end)
    let flags = REG_STARTEND | (start > 0 ? REG_NOTBOL : 0)
    guard regexec(expression, text, 1, &found, flags) == 0 else { return nil }
    return Int(found.rm_so)..<Int(found.rm_eo)
  }

  /// All non-empty matches in a line, in order.
  public func matches(in line: UnsafeRawBufferPointer) -> [Range<Int>] {
    var matches: [Range<Int>] = []
    var start = 0
    while start < line.count, let found = match(in: line, from: start) {
      if !found.isEmpty { matches.append(found) }
      start = max(found.upperBound, start + 1)
    }
    return matches
  }

  /// A pattern with `\d` and `\D` replaced by POSIX classes; POSIX would read them as letters.
  ///
  /// In brackets a backslash is an ordinary character.
  ///
  /// - Returns: the pattern, and whether it means the same as a group of another one: not with a
  ///   closing parenthesis that is a character, or with back references.
  private static func withDigits(_ text: String) -> (text: String, isGroup: Bool) {
    var result = ""
    var rest = text[...]
    var depth = 0
    var isGroup = true
    while let character = rest.popFirst() {
      switch character {
      case "\\":
        let next = rest.popFirst()
        switch next {
        case "d": result += "[0-9]"
        case "D": result += "[^0-9]"
        default:
          if next?.isNumber == true { isGroup = false }
          result += "\\" + (next.map(String.init) ?? "")
        }
      case "[":
        let list = bracketList(&rest)
        result += "[" + list
      default:
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        if depth < 0 { isGroup = false }
        result.append(character)
      }
    }
    return (result, isGroup)
  }

  /// The rest of a bracket expression up to its end, verbatim.
  private static func bracketList(_ rest: inout Substring) -> String {
    var list = ""
    if rest.first == "^", let sign = rest.popFirst() { list.append(sign) }
    // The first character belongs to the list, even if it is a closing bracket.
    if let first = rest.popFirst() {
      list.append(first)
      if first == "[" { list += classEnd(&rest) }
    }
    while let character = rest.popFirst() {
      list.append(character)
      if character == "]" { return list }
      if character == "[" { list += classEnd(&rest) }
    }
    return list
  }

  /// The rest of `[:alpha:]`, `[.x.]` or `[=x=]`; empty for anything else.
  private static func classEnd(_ rest: inout Substring) -> String {
    guard let sign = rest.first, ":.=".contains(sign) else { return "" }
    var text = ""
    while let character = rest.popFirst() {
      text.append(character)
      if character == "]", text.count > 2, text.dropLast().last == sign { return text }
    }
    return text
  }

  private static func escaped(_ text: String) -> String {
    String(text.flatMap { #"\.[](){}*+?^$|"#.contains($0) ? ["\\", $0] : [$0] })
  }
}

/// Why a text is not a valid pattern.
public struct PatternError: Error, Sendable, CustomStringConvertible {
  private let pattern: String
  private let reason: String

  init(pattern: String, reason: String) {
    self.pattern = pattern
    self.reason = reason
  }

  /// One line for a person.
  public var description: String {
    "invalid pattern '\(pattern)': \(reason)"
  }
}
