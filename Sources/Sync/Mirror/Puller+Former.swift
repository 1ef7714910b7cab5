import ObjectStore
import Platform
import Replica
import SessionLog

/// Fetches what a file held before it was rewritten, `<session>.g<generation>.log`.
extension Puller {
  /// Whether a mirrored session lacks a former stream that its sidecar lists.
  ///
  /// - Parameter sidecar: the mirror's sidecar.
  func lacksFormer(_ sidecar: [UInt8], _ files: Files) throws -> Bool {
    guard sidecar.contains(Array(#""former""#.utf8)), let sidecar = try? Sidecar(json: sidecar)
    else { return false }
    return try (sidecar.former ?? []).contains { try !isThere($0, files) }
  }

  private func isThere(_ stream: Sidecar.FormerStream, _ files: Files) throws -> Bool {
    try FileStatus(files.former(stream.generation))?.length == Int64(stream.length)
  }

  /// Fetches the former streams that the mirror lacks.
  ///
  /// - Returns: why one cannot be read; the others, and the newest stream, are mirrored regardless.
  /// - Throws: errors of the store and of the local files.
  func fetchFormer(
    _ sidecar: Sidecar, of remote: RemoteSession, _ report: (ByteCount) -> Void
  ) async throws -> ReplicaError? {
    var problem: ReplicaError?
    for stream in sidecar.former ?? [] where try !isThere(stream, files(of: remote)) {
      do {
        try await fetch(stream, of: remote, report)
      } catch let error as ReplicaError {
        problem = problem ?? error
      }
    }
    return problem
  }

  private func fetch(
    _ stream: Sidecar.FormerStream, of remote: RemoteSession, _ report: (ByteCount) -> Void
  ) async throws {
    let stored = remote.segments(of: stream.generation).map(\.stored).total
    if let refusal = limit.refusal(of: stream.length.byteCount, from: stored) {
      throw ReplicaError(
        .tooLong,
        "what the file held until \(stream.until), \(stream.length) bytes, is not fetched: \(refusal); "
          + "'tidemark pull --max-size' says how large it may be")
    }
    let files = files(of: remote)
    var watch = try space.watch(
      stream.length.byteCount, in: files.directory, for: remote.session.description)
    let log = try MirrorReplacement(of: files.former(stream.generation))
    try await RemoteReader(store, knowing: keys).read(
      remote, generation: stream.generation, upTo: stream.length
    ) { piece in
      try watch.count(piece.count)
      try log.append(piece)
      report(ByteCount(piece.count))
    }
    _ = try log.commit(keepingOldAs: files.earlier(stream.generation))
  }

  /// Removes logs of earlier generations that the store does not list any more, because they were
  /// redacted.
  func removeUnlisted(_ sidecar: Sidecar, of remote: RemoteSession) throws {
    let files = files(of: remote)
    let listed = Set((sidecar.former ?? []).map(\.generation))
    for name in try Directory.names(in: files.directory) {
      let parts = name.split(separator: ".")
      guard parts.first.map(String.init) == remote.session.description, parts.last == "log",
        parts.count > 2, parts[1].first == "g", let generation = Int(parts[1].dropFirst()),
        generation < remote.generation, !listed.contains(generation)
      else { continue }
      try File.remove("\(files.directory)/\(name)")
    }
  }
}
