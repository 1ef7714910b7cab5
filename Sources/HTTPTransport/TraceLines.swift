import Platform

/// Makes lines of what libcurl reports of a request: without secrets, without bodies, and without
/// control characters.
///
/// Pieces are put together first: a header that comes in two would hide what its value is.
struct TraceLines {
  /// What a piece is.
  enum Kind: CaseIterable {
    /// libcurl's own words.
    case note
    /// Of the request's head.
    case sent
    /// Of the answer's head.
    case received

    var mark: String {
      switch self {
      case .note: "*"
      case .sent: ">"
      case .received: "<"
      }
    }
  }

  private struct Partial {
    var bytes: [UInt8] = []
    var isCut = false
    /// Whether the header before was masked: a line that goes on with it is, too.
    var isMasked = false
  }

  /// Bytes of a line that are kept.
  private static let longest = 8192

  private let mask: SecretMask
  private var partial: [Kind: Partial] = [:]
  private var bodies: [Kind: Int] = [:]

  init(_ mask: SecretMask) { self.mask = mask }

  /// Takes a piece of text; gives the lines that it ends.
  mutating func add(_ kind: Kind, _ bytes: some Sequence<UInt8>) -> [String] {
    var lines = takeBodies()
    for byte in bytes {
      guard byte != 0x0A else {
        lines += takeLine(kind)
        continue
      }
      let length = partial[kind, default: Partial()].bytes.count
      if length < Self.longest {
        partial[kind, default: Partial()].bytes.append(byte)
      } else {
        partial[kind]?.isCut = true
      }
    }
    // A note is whole, with or without its end.
    if kind == .note { lines += takeLine(kind) }
    return lines
  }

  /// Counts bytes of a body, which is never shown.
  mutating func addBody(_ kind: Kind, _ count: Int) { bodies[kind, default: 0] += count }

  /// The lines that the end of a request ends; a head that broke off is not shown.
  mutating func finish() -> [String] {
    partial = [:]
    return takeBodies()
  }

  private mutating func takeBodies() -> [String] {
    guard !bodies.isEmpty else { return [] }
    defer { bodies = [:] }
    return Kind.allCases.compactMap { kind in
      bodies[kind].map { "\(kind.mark) (\($0) bytes of body)" }
    }
  }

  private mutating func takeLine(_ kind: Kind) -> [String] {
    guard var line = partial[kind] else { return [] }
    if line.bytes.last == 0x0D { line.bytes.removeLast() }
    defer { partial[kind] = Partial(isMasked: line.isMasked) }
    guard !line.bytes.isEmpty else {
      line.isMasked = false
      return []
    }
    var text = String(decoding: line.bytes, as: UTF8.self)
    if kind == .note {
      text = mask.maskNote(text)
    } else if line.isMasked, text.hasPrefix(" ") || text.hasPrefix("\t") {
      text = " \(SecretMask.replacement)"
    } else {
      (text, line.isMasked) = mask.maskHeader(text)
    }
    return ["\(kind.mark) \(String(oneLine: text))\(line.isCut ? "…" : "")"]
  }
}
