import Foundation
import Platform

/// A sidecar as a file, and the valid ranges of its numbers.
///
/// A home's user, or anyone with write access to the store, may have written any value. They are
/// checked on reading, so that calculations with them cannot overflow.
extension Sidecar {
  /// The JSON, keys sorted, ending in a newline.
  ///
  /// - Throws: `EncodingError`.
  public func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [0x0a]
  }

  /// Reads the JSON; unknown keys are ignored.
  ///
  /// - Throws: `DecodingError`, also for numbers that no session has.
  public init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(Sidecar.self, from: Data(json))
    try checkNumbers()
  }

  /// Reads a sidecar file.
  ///
  /// - Throws: ``SidecarError`` if it is missing or damaged; ``SystemError``.
  public static func load(_ path: String) throws -> Sidecar { try read(path).sidecar }

  /// The longest sidecar in bytes, in the store, too; a home's user may make any file.
  private static let longest = 1 << 20

  /// Reads a sidecar file, and returns its bytes, too, which a signature covers.
  ///
  /// - Throws: ``SidecarError`` if it is missing or damaged; ``SystemError``.
  package static func read(_ path: String) throws -> (sidecar: Sidecar, json: [UInt8]) {
    do {
      let json = try AtomicFile.read(path, atMost: longest)
      let sidecar = try Sidecar(json: json)
      try sidecar.checkIds(at: path)
      return (sidecar, json)
    } catch let error as SystemError where error.isNotFound {
      throw SidecarError(isMissing: true, path: path, detail: "there is none")
    } catch let error as DecodingError {
      throw SidecarError(isMissing: false, path: path, detail: error.summary)
    }
  }

  /// Replaces a sidecar file, durably.
  ///
  /// - Throws: ``SystemError``.
  public func save(_ path: String) throws { try AtomicFile.write(try json(), to: path) }

  /// Replaces a sidecar file, not durably: a power failure may restore the old content.
  ///
  /// - Throws: ``SystemError``.
  package func saveForNow(_ path: String) throws {
    try AtomicFile.write(try json(), to: path, isDurable: false)
  }

  // MARK: Numbers

  /// Lengths and offsets in bytes, counts, and times in milliseconds: larger than any real value,
  /// and small enough that sums fit.
  package static let byteCounts: ClosedRange<Int64> = 0...1 << 50

  /// The generations that names can express.
  package static let generations = 1...999_999

  /// The most former streams that a session has.
  package static let mostFormerStreams = 32

  /// Rejects numbers that no session has.
  ///
  /// - Throws: `DecodingError`.
  func checkNumbers() throws {
    try Self.check("fileSizeBytes", fileSizeBytes.bytes, in: Self.byteCounts)
    try Self.check("lost", lost?.bytes, in: Self.byteCounts)
    try Self.check("clockOffset", clockOffset?.magnitude, in: 0...UInt64(1 << 50))
    try Self.check("generation", generation, in: Self.generations)
    try Self.check("erasesBefore", erasesBefore, in: Self.generations)
    let former = former ?? []
    try Self.check("the number of former streams", former.count, in: 0...Self.mostFormerStreams)
    for (stream, next) in zip(former, former.dropFirst()) where next.generation <= stream.generation
    {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "the generations in former do not ascend"))
    }
    for stream in former {
      try Self.check("former.generation", stream.generation, in: Self.generations)
      try Self.check("former.length", Int64(stream.length), in: Self.byteCounts)
    }
    let givenUp = givenUp ?? []
    try Self.check("the number of given up streams", givenUp.count, in: 0...Self.mostFormerStreams)
    for generation in givenUp { try Self.check("givenUp", generation, in: Self.generations) }
    for count in (levels.values.map { $0 }) + (redacted ?? [:]).values {
      try Self.check("levels or redacted", Int64(count), in: Self.byteCounts)
    }
    try Self.check(redaction)
    try Self.check("recorder.pid", recorder?.pid, in: 1...Int32.max)
    try Self.check(
      "recorder.memoryKills", recorder?.memoryKills.map(Int64.init), in: Self.byteCounts)
    try Self.check("agesFrom.seconds", agesFrom?.seconds, in: Self.byteCounts)
    try Self.check("seal.length", (seal?.length).map(Int64.init), in: Self.byteCounts)
    try Self.check("seal.log.length", (seal?.log?.length).map(Int64.init), in: Self.byteCounts)
    try Self.check("source.base", source?.base, in: Self.byteCounts)
    try Self.check("source.length", (source?.length).map(Int64.init), in: Self.byteCounts)
    try Self.check("source.headLength", source?.headLength, in: 0...Source.longestHead)
  }

  /// Rejects a session other than the one in the file's name, and an invalid device id: both become
  /// names of files and objects.
  ///
  /// - Throws: `DecodingError`.
  func checkIds(at path: String) throws {
    let name = path.fields(between: "/").last.map(String.init) ?? ""
    let named = name.fields(between: ".").first.flatMap { SessionID(String($0)) }
    guard named == nil || named == sessionId, Device.isID(deviceId) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: [],
          debugDescription: "it speaks of session \(sessionId) of device "
            + "'\(String(oneLine: deviceId, limit: 64))'"))
    }
  }

  /// Rejects offsets of epochs that no stream has.
  ///
  /// - Throws: `DecodingError`.
  package static func check(_ epochs: [RedactionEpoch]?) throws {
    for epoch in epochs ?? [] { try check("redaction.from", Int64(epoch.from), in: byteCounts) }
  }

  /// Rejects a number out of its range; a missing one is valid.
  ///
  /// - Throws: `DecodingError`.
  package static func check<Number: Comparable>(
    _ name: String, _ number: Number?, in range: ClosedRange<Number>
  ) throws {
    guard let number, !range.contains(number) else { return }
    throw DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: "\(name) cannot be \(number)"))
  }
}

/// A sidecar that could not be read.
public struct SidecarError: Error, Sendable, CustomStringConvertible {
  /// Whether it is missing rather than damaged.
  public let isMissing: Bool
  /// The file.
  public let path: String
  private let detail: String

  init(isMissing: Bool, path: String, detail: String) {
    self.isMissing = isMissing
    self.path = path
    self.detail = detail
  }

  /// One line for a person.
  public var description: String {
    String(oneLine: isMissing ? "\(path) does not exist" : "\(path) is damaged: \(detail)")
  }
}
