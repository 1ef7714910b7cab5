import Foundation
public import Platform

/// Writes a replay as an asciicast, version 2: a header, then one event per line.
///
/// The format is asciinema's: <https://docs.asciinema.org/manual/asciicast/v2/>.
public struct Asciicast {
  private let title: String
  private let startedAt: Timestamp
  private var hasHeader = false
  private var last: Int64 = 0
  /// The start of a character that the next piece completes.
  private var unfinished: [UInt8] = []

  private struct Header: Encodable {
    let version = 2
    let width: Int
    let height: Int
    let timestamp: Int64
    let title: String
    let env: [String: String]?
  }

  /// Starts a recording.
  ///
  /// - Parameters:
  ///   - title: the title in players.
  ///   - startedAt: the session's start, to which events are relative.
  public init(title: String, startedAt: Timestamp) {
    self.title = title
    self.startedAt = startedAt
  }

  /// The lines for an event.
  ///
  /// Times never decrease; bytes that are not UTF-8 become U+FFFD, as the format requires.
  ///
  /// - Parameter time: the event's time; nil for that of the event before.
  /// - Throws: `EncodingError`.
  public mutating func lines(at time: Timestamp?, _ event: Replay.Event) throws -> [UInt8] {
    last = max(last, time.map { $0.milliseconds - startedAt.milliseconds } ?? 0)
    switch event {
    case .window(let columns, let rows, let terminal):
      guard hasHeader else { return try header(columns, rows, terminal) }
      return try line("r", "\(columns)x\(rows)")
    case .output(let bytes):
      let header = hasHeader ? [] : try header(80, 24, nil)
      let bytes = unfinished + bytes
      let whole = bytes.count - Self.unfinishedLength(of: bytes)
      unfinished = Array(bytes[whole...])
      guard whole > 0 else { return header }
      return header + (try line("o", String(decoding: bytes[..<whole], as: UTF8.self)))
    }
  }

  /// The remaining lines at the end.
  ///
  /// - Throws: `EncodingError`.
  public mutating func finish() throws -> [UInt8] {
    let header = hasHeader ? [] : try header(80, 24, nil)
    guard !unfinished.isEmpty else { return header }
    defer { unfinished = [] }
    return header + (try line("o", String(decoding: unfinished, as: UTF8.self)))
  }

  private mutating func header(_ columns: Int, _ rows: Int, _ terminal: String?) throws -> [UInt8] {
    hasHeader = true
    let header = Header(
      width: columns, height: rows, timestamp: startedAt.milliseconds / 1000, title: title,
      env: terminal.map { ["TERM": $0] })
    return try Self.json(header)
  }

  private func line(_ code: String, _ data: String) throws -> [UInt8] {
    let digits = String(last % 1000 + 1000).dropFirst()
    return Array("[\(last / 1000).\(digits),\"\(code)\",".utf8)
      + (try Self.json(data)).dropLast() + Array("]\n".utf8)
  }

  private static func json(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value)) + [0x0a]
  }

  /// Length of an incomplete UTF-8 character at the end.
  private static func unfinishedLength(of bytes: [UInt8]) -> Int {
    for count in 1...3 where count <= bytes.count {
      let byte = bytes[bytes.count - count]
      if byte & 0xc0 == 0x80 { continue }
      let needed =
        switch byte {
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: 1
        }
      return needed > count ? count : 0
    }
    return 0
  }
}
