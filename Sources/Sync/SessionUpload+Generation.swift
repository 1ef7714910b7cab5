import Delta
import Foundation
import ObjectStore
import Replica
import SessionLog

/// An attached file of which bytes have changed that were sent already becomes a new generation of
/// its session, sent as deltas against the one before.
///
/// The remote keeps to the old one until a sidecar revision names the new one, which happens when
/// every byte of it is there.
extension SessionUpload {
  /// The generation of which the local log is.
  func wantedGeneration() throws -> Int {
    guard item.sidecar.source != nil else { return 1 }
    return try local.sidecar(device: context.device, machine: context.machine).sidecar.generation
      ?? 1
  }

  /// Says that the local log is another generation than what was sent.
  func wantNextGeneration(after entry: ManifestEntry) throws {
    var (sidecar, _) = try local.sidecar(device: context.device, machine: context.machine)
    let highest = entry.segments.keys.map(\.generation).max() ?? 1
    sidecar.generation = max(highest, entry.generation) + 1
    try sidecar.save(local.files.sidecar)
  }

  /// Sends the local log as the generation after the one that was sent, and names it.
  ///
  /// - Parameter end: where it ends for now, in stream bytes.
  func sendGeneration(
    _ log: LogFile, upTo end: Int64, _ entry: inout ManifestEntry
  ) async throws {
    var start: Int64 = 0
    let begun = remote(entry).segments(of: try wantedGeneration())
    if try begun.allSatisfy({ try $0.range.upperBound <= end && $0.matches(log) }) {
      start = remote(entry).mark(of: try wantedGeneration())
    } else {
      // What was begun is of a file that has changed again.
      try wantNextGeneration(after: entry)
    }
    let generation = try wantedGeneration()
    try begin(&entry)
    let basis = SentSignature(
      context.home, session, generation: entry.generation, upTo: entry.sent)
    if basis.signature.count == 0 {
      try await sendPlain(start..<end, of: generation, log, &entry)
    } else {
      try await sendDelta(start..<end, of: generation, log, against: basis.signature, &entry)
    }
    try await name(generation, log, length: end, &entry)
  }

  private func sendPlain(
    _ range: Range<Int64>, of generation: Int, _ log: LogFile, _ entry: inout ManifestEntry
  ) async throws {
    var start = range.lowerBound
    while start < range.upperBound {
      let segment = try await lane.encode(
        log, session: session, generation: generation, range: start..<range.upperBound,
        storedLimit: context.segmentLimit, format: item.sidecar.format)
      try await put(segment, of: log, &entry)
      start = segment.name.range.upperBound
    }
  }

  private func sendDelta(
    _ range: Range<Int64>, of generation: Int, _ log: LogFile, against signature: Signature,
    _ entry: inout ManifestEntry
  ) async throws {
    let source = try GenerationSource(
      log, session: session, generation: generation, range: range, signature: signature,
      basis: try await sourceMap(entry), storedLimit: context.segmentLimit)
    while let segment = try await source.next() {
      let name = segment.encoded.name
      if segment.copied * 2 < name.length {
        try await sendPlain(name.range, of: generation, log, &entry)
      } else {
        try await put(segment.encoded, of: log, &entry)
      }
    }
    guard range.lowerBound == 0 else { return }
    try SentSignature.remove(context.home, session, generation: generation)
    var own = SentSignature(context.home, session, generation: generation, upTo: 0)
    own.append(await source.takeBlocks())
  }

  /// Where the bytes of the generation that was sent are stored.
  private func sourceMap(_ entry: ManifestEntry) async throws -> SourceMap {
    var map = SourceMap(generation: entry.generation)
    for name in remote(entry).cover(upTo: entry.sent, of: entry.generation) {
      switch name.kind {
      case .plain: map.appendOwn(name.range.upperBound - map.length)
      case .delta: try map.append(try await instructions(of: name))
      }
    }
    return map
  }

  /// Segments of earlier generations that these copy from.
  func basis(of objects: [SegmentName], _ entry: ManifestEntry) async throws -> [SegmentName] {
    var basis: Set<SegmentName> = []
    for name in objects where name.kind == .delta {
      for case .copy(let source) in try await instructions(of: name).list {
        let segments = remote(entry).cover(upTo: source.range.upperBound, of: source.generation)
        basis.formUnion(segments.filter { $0.range.overlaps(source.range) })
      }
    }
    return basis.sorted { $0.fileName < $1.fileName }
  }

  private func instructions(of name: SegmentName) async throws -> DeltaInstructions {
    let object = try await context.store.get(folder.key + name.fileName)
    let instructions = try SegmentIndex.decode(endOf: object[...]).index.instructions
    guard instructions.length == name.length else {
      throw ReplicaError(
        .damagedObject, "\(folder.key)\(name) makes other bytes than its name says")
    }
    return instructions
  }

  /// Puts the revision from which on a generation counts.
  private func name(
    _ generation: Int, _ log: LogFile, length: Int64, _ entry: inout ManifestEntry
  ) async throws {
    guard remote(entry).mark(of: generation) == length else {
      throw ReplicaError(.missingBytes, "generation \(generation) of \(session) was not sent whole")
    }
    let previous = entry.generation
    entry.generation = generation
    entry.sent = length
    entry.merged = 0
    entry.signed = 0
    entry.link = try log.link(before: length)
    var sidecar = item.sidecar.remoteForm
    // Only the seal says how it ended.
    sidecar.status = .active
    sidecar.cause = nil
    sidecar.endedAt = nil
    try await putRevision(sidecar, length: length, &entry)
    try SentSignature.remove(context.home, session, generation: previous)
  }
}
