import Platform

/// Turns libcurl's reports about a request into lines without secrets, bodies and control
/// characters.
///
/// Pieces are joined first: a header split in two would hide that its value is a secret.
struct TraceLines {
  /// The kind of a piece.
  enum Kind: CaseIterable {
    /// libcurl's own message.
    case note
    /// Part of the request's head.
    case sent
    /// Part of the answer's head.
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
    /// Whether the previous header was masked: a line that continues it is masked, too.
    var isMasked = false
  }

  /// Maximum number of bytes kept of a line.
  private static let longest = 8192

  private let mask: SecretMask
  private var partial: [Kind: Partial] = [:]
  private var bodies: [Kind: Int] = [:]

  init(_ mask: SecretMask) { self.mask = mask }

  /// Appends a piece of text; returns the lines that it completes.
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
    // A note is complete, with or without a newline.
    if kind == .note { lines += takeLine(kind) }
    return lines
  }

  /// Counts bytes of a body, which are never shown.
  mutating func addBody(_ kind: Kind, _ count: Int) { bodies[kind, default: 0] += count }

  /// The remaining lines at the end of a request; an incomplete head is not shown.
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
      text = mask.maskNote(text, isCut: line.isCut)
    } else if line.isMasked, text.hasPrefix(" ") || text.hasPrefix("\t") {
      text = " \(SecretMask.replacement)"
    } else {
      (text, line.isMasked) = mask.maskHeader(text, isCut: line.isCut)
    }
    return ["\(kind.mark) \(String(oneLine: text))\(line.isCut ? "…" : "")"]
  }
}
