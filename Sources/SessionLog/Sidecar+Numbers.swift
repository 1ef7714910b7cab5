import Platform

/// The valid ranges of a sidecar's numbers.
///
/// A home's user, or anyone with write access to the store, may have written any value. They are
/// checked on reading, so that calculations with them cannot overflow.
extension Sidecar {
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
    let name = path.split(separator: "/").last?.split(separator: ".").first.map(String.init)
    let named = name.flatMap(SessionID.init)
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

extension Sidecar.Source {
  /// The file position of a byte of the stream.
  package func position(of offset: StreamOffset) -> Int64 { base + Int64(offset) }

  /// The stream offset of a byte of the file.
  package func offset(of position: Int64) -> StreamOffset { StreamOffset(position - base) }

  /// Maximum number of a file's first bytes that are hashed.
  package static let longestHead = 4096
}
