public import LogRecords

/// A masked range and its kind.
public struct MaskedRange: Sendable, Equatable {
  /// Its range in the text.
  public let range: Range<Int>
  /// The kind of its rule.
  public let kind: String
}

/// Masks the matches of the rules, and nothing else: the text keeps its length, its newlines and,
/// except for categories, the recorder's prefixes.
///
/// Whether a byte is masked depends only on the bytes within ``context`` of it, and on the bytes
/// after it in its own line: the masks of a part do not depend on where reading begins. Redacting
/// redacted text keeps every mark and reveals nothing. It changes nothing at all unless a mask
/// makes another rule match, and that one's mask another, more often in turn than one call follows:
/// then more is masked. Only text made for it does that.
public final class Redactor: Sendable {
  /// The rules it applies.
  public let rules: RedactionRules
  let compiled: CompiledRules

  /// Maximum number of passes: a mask may make another rule match.
  private static let rounds = 3

  /// How far from a byte its context extends, in bytes.
  package static let context = RedactionPass.reach * rounds

  /// Compiles rules.
  ///
  /// - Throws: ``RedactionError`` for invalid rules.
  public init(_ rules: RedactionRules) throws(RedactionError) {
    let engine = rules.engine ?? 1
    guard 1...RedactionRules.newestEngine ~= engine else {
      throw RedactionError("the rules are for engine \(engine), which this program does not have")
    }
    self.rules = rules
    compiled = try CompiledRules(rules.rules, engine: engine)
  }

  /// A redactor with the built-in rules that are on by default.
  public static let standard: Redactor = {
    do {
      return try Redactor(RedactionRules())
    } catch {
      preconditionFailure("rules.json, which is part of the program: \(error)")
    }
  }()

  /// Masks a whole text.
  ///
  /// - Parameters:
  ///   - text: any bytes; newlines and the length are kept.
  ///   - format: whether its lines begin with the recorder's prefixes.
  public func redacted(_ text: [UInt8], format: LogFormat = .asIs) -> [UInt8] {
    var text = text
    _ = mask(&text, at: 0, format)
    return text
  }

  /// A category as masked in records: with `*` only, because a mark's brackets would end it.
  package func redactedCategory(_ category: String) -> String {
    var text = Array(category.utf8)
    guard compiled.masksCategories else {
      return String(decoding: redacted(text), as: UTF8.self)
    }
    for masked in redactions(in: text) {
      text.withUnsafeMutableBytes {
        RedactionMark.blank(UnsafeMutableRawBufferPointer(rebasing: $0[masked.range]))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The masked ranges of a whole text, in order.
  public func redactions(in text: [UInt8], format: LogFormat = .asIs) -> [MaskedRange] {
    var text = text
    return mask(&text, at: 0, format)
  }

  /// Masks a part of a stream, which includes the context of the wanted bytes.
  ///
  /// - Parameters:
  ///   - text: the part.
  ///   - offset: stream offset of its first byte.
  ///   - format: the stream's format.
  /// - Returns: the masked ranges, in order.
  package func mask(
    _ text: inout [UInt8], at offset: Int64, _ format: LogFormat
  ) -> [MaskedRange] {
    maskRounds(&text, at: offset, format).found
  }

  /// Masks a part of a stream.
  ///
  /// - Returns: the masked ranges, in order, and the start of the line after which the part ends
  ///   within a private key; nil if it does not.
  func maskRounds(
    _ text: inout [UInt8], at offset: Int64, _ format: LogFormat
  ) -> (found: [MaskedRange], openLine: Int?) {
    var found: [MaskedRange] = []
    var openLine: Int?
    text.withUnsafeMutableBytes { bytes in
      var zones = [bytes.indices]
      for _ in 0..<Self.rounds {
        let text = UnsafeRawBufferPointer(bytes)
        var pass = RedactionPass(compiled, text, at: offset, format)
        for zone in zones {
          pass.scan(in: zone)
          if let ignored = compiled.ignored { pass.scan(in: zone, without: ignored) }
        }
        if compiled.ignored == .all { pass.scanKeyBlocks() }
        openLine = [openLine, pass.block.openLine].compactMap(\.self).min()
        let runs = pass.matches.isEmpty ? [] : RedactionRuns(pass).runs
        guard !runs.isEmpty else { break }
        for run in runs {
          let kind = compiled.kinds[run.rule]
          let secret = UnsafeMutableRawBufferPointer(rebasing: bytes[run.range])
          if run.isCategory {
            RedactionMark.blank(secret)
          } else {
            RedactionMark.write(kind, over: secret)
          }
          found.append(MaskedRange(range: run.range, kind: kind))
        }
        zones = Self.neighbourhoods(of: runs.map(\.range), pass)
      }
    }
    return (found.sorted { $0.range.lowerBound < $1.range.lowerBound }, openLine)
  }

  /// Ranges in which masks may make a rule match: the same lines.
  private static func neighbourhoods(of runs: [Range<Int>], _ pass: RedactionPass) -> [Range<Int>] {
    var zones: [Range<Int>] = []
    for run in runs {
      let earliest = run.lowerBound - RedactionPass.reach
      var start = run.lowerBound
      if let end = zones.last?.upperBound, run.lowerBound <= end {
        start = end
      } else {
        start = pass.lineStart(of: run.lowerBound, notBefore: earliest) ?? max(0, earliest)
      }
      let end = pass.lineEnd(of: run.upperBound, notAfter: run.upperBound + RedactionPass.reach)
      guard start < end else { continue }
      if let last = zones.last, last.upperBound == start {
        zones[zones.count - 1] = last.lowerBound..<end
      } else {
        zones.append(start..<end)
      }
    }
    return zones
  }
}
