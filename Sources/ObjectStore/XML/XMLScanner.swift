/// Parses a small XML document from a server.
///
/// Expects hostile input: depth, count and size are bounded; a document type declaration, and with
/// it every entity beyond XML's five, is rejected; anything malformed is an error.
struct XMLScanner {
  static let maximumBytes = 64 << 20
  static let maximumDepth = 64
  static let maximumElements = 2_000_000
  /// Maximum number of namespace prefixes in scope.
  static let maximumPrefixes = 64

  private let bytes: [UInt8]
  private var position = 0
  private var open: [Level] = []
  private var elements = 0
  /// The prefixes in scope and their namespaces, inner elements last: declarations cost no more
  /// than an element's own attributes, however many are in scope.
  private var prefixes: [(prefix: String, namespace: String)] = [
    ("xml", "http://www.w3.org/XML/1998/namespace")
  ]

  /// An open element: its name as written, and the number of prefixes in scope outside it.
  private struct Level {
    var element: XMLElement
    var rawName: String
    var start: Int
    var text: [UInt8] = []
    var outerPrefixes: Int
  }

  /// The root element of the document.
  ///
  /// Throws `XMLError` if there is no well-formed one.
  static func parse(_ bytes: [UInt8]) throws(XMLError) -> XMLElement {
    var scanner = XMLScanner(bytes)
    return try scanner.document()
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private func failure(_ reason: String) -> XMLError {
    XMLError(reason: reason, offset: position)
  }

  private var cut: XMLError {
    XMLError(
      reason: "the document ends too early", offset: bytes.count, isCut: true,
      root: open.first?.element.name)
  }

  private mutating func document() throws(XMLError) -> XMLElement {
    guard bytes.count <= Self.maximumBytes else { throw failure("too large") }
    if let reason = XMLEncoding.refusal(of: bytes) { throw failure(reason) }
    if bytes.starts(with: XMLEncoding.byteOrderMark) { position = XMLEncoding.byteOrderMark.count }
    var root: XMLElement?
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<") {
        let start = position
        do {
          if let finished = try markup(rootSeen: root != nil) { root = finished }
        } catch {
          // Unfinished markup is wrong only because it ends.
          throw bytes[start...].contains(UInt8(ascii: ">")) ? error : cut
        }
      } else {
        try characters()
      }
    }
    guard let root, open.isEmpty else {
      throw bytes.allSatisfy(isXMLSpace) ? failure("the document is empty") : cut
    }
    return root
  }

  /// Text up to the next `<`, with its references resolved.
  private mutating func characters() throws(XMLError) {
    let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    if open.isEmpty {
      // White space before the declaration is not XML, but S3 keeps connections alive with it.
      guard bytes[position..<end].allSatisfy(isXMLSpace) else { throw failure("text outside") }
    } else {
      guard end < bytes.count else { throw cut }
      open[open.count - 1].text += try XMLText.resolved(bytes[position..<end])
    }
    position = end
  }

  /// Reads one piece of markup; returns the root element when it is complete.
  private mutating func markup(rootSeen: Bool) throws(XMLError) -> XMLElement? {
    if consume("<!--") {
      try skip(past: "-->")
    } else if consume("<?") {
      try skip(past: "?>")
    } else if !open.isEmpty, consume("<![CDATA[") {
      let start = position
      try skip(past: "]]>")
      open[open.count - 1].text += bytes[start..<(position - 3)]
    } else if consume("<!") {
      throw failure("a document type declaration")
    } else if consume("</") {
      return try endTag()
    } else {
      position += 1
      if open.isEmpty, rootSeen { throw failure("a second root element") }
      return try startTag()
    }
    return nil
  }

  private mutating func startTag() throws(XMLError) -> XMLElement? {
    elements += 1
    guard elements <= Self.maximumElements else { throw failure("too many elements") }
    guard open.count < Self.maximumDepth else { throw failure("nested too deep") }
    let start = position - 1
    let rawName = try name()
    let outerPrefixes = prefixes.count
    var seen: Set<String> = []
    while true {
      let spaces = skipSpaces()
      if consume("/>") || consume(">") { break }
      guard spaces else { throw failure("no space before an attribute") }
      let attribute = try name()
      guard seen.insert(attribute).inserted else { throw failure("an attribute twice") }
      let value = try attributeValue()
      if attribute == "xmlns" {
        prefixes.append(("", value))
      } else if attribute.hasPrefix("xmlns:") {
        prefixes.append((String(attribute.dropFirst(6)), value))
      }
      guard prefixes.count <= Self.maximumPrefixes else { throw failure("too many prefixes") }
    }
    for attribute in seen where !attribute.hasPrefix("xmlns:") && attribute.contains(":") {
      _ = try resolve(attribute)
    }
    let (namespace, local) = try resolve(rawName)
    let element = XMLElement(namespace: namespace, name: local)
    open.append(
      Level(element: element, rawName: rawName, start: start, outerPrefixes: outerPrefixes))
    return bytes[position - 2] == UInt8(ascii: "/") ? try close() : nil
  }

  private mutating func endTag() throws(XMLError) -> XMLElement? {
    let rawName = try name()
    _ = skipSpaces()
    guard consume(">"), open.last?.rawName == rawName else { throw failure("a wrong end tag") }
    return try close()
  }

  /// Closes the innermost element; returns it if it is the root.
  private mutating func close() throws(XMLError) -> XMLElement? {
    guard var level = open.popLast() else { throw failure("an end without a start") }
    prefixes.removeLast(prefixes.count - level.outerPrefixes)
    let text = level.text.drop(while: isXMLSpace)
    let last = text.lastIndex { !isXMLSpace($0) } ?? text.startIndex - 1
    guard let string = String(validating: text[text.startIndex..<(last + 1)], as: UTF8.self) else {
      throw failure("text that is not UTF-8")
    }
    level.element.text = string
    level.element.range = level.start..<position
    guard !open.isEmpty else { return level.element }
    open[open.count - 1].element.children.append(level.element)
    return nil
  }

  private func namespace(of prefix: Substring) -> String? {
    prefixes.last { $0.prefix == prefix }?.namespace
  }

  private func resolve(_ rawName: String) throws(XMLError) -> (String, String) {
    guard let colon = rawName.firstIndex(of: ":") else { return (namespace(of: "") ?? "", rawName) }
    let local = String(rawName[rawName.index(after: colon)...])
    guard let namespace = namespace(of: rawName[..<colon]), !local.isEmpty,
      !local.contains(":")
    else { throw failure("an unknown prefix") }
    return (namespace, local)
  }

  private mutating func attributeValue() throws(XMLError) -> String {
    _ = skipSpaces()
    guard consume("=") else { throw failure("an attribute without a value") }
    _ = skipSpaces()
    guard position < bytes.count, bytes[position] == 0x22 || bytes[position] == 0x27 else {
      throw failure("an attribute without quotes")
    }
    let quote = bytes[position]
    let start = position + 1
    guard let end = bytes[start...].firstIndex(of: quote),
      !bytes[start..<end].contains(UInt8(ascii: "<")),
      let value = String(validating: try XMLText.resolved(bytes[start..<end]), as: UTF8.self)
    else { throw failure("an attribute that does not end") }
    position = end + 1
    return value
  }

  private mutating func name() throws(XMLError) -> String {
    let start = position
    while position < bytes.count, isXMLName(bytes[position], first: position == start) {
      position += 1
    }
    guard position > start, position - start <= 256,
      let name = String(validating: bytes[start..<position], as: UTF8.self)
    else { throw failure("a name is missing") }
    return name
  }

  private mutating func skipSpaces() -> Bool {
    let start = position
    while position < bytes.count, isXMLSpace(bytes[position]) { position += 1 }
    return position > start
  }

  private mutating func consume(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for index in 0..<count where bytes[position + index] != text.utf8Start[index] { return false }
    position += count
    return true
  }

  private mutating func skip(past text: StaticString) throws(XMLError) {
    while position < bytes.count {
      if consume(text) { return }
      position += 1
    }
    throw cut
  }
}
