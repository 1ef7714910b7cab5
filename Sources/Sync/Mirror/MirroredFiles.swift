import Foundation
import Platform
import Replica
import SessionLog

/// The files of a session in the folder of a mirror's day.
struct MirroredFiles: Sendable {
  let folder: OpenFolder
  /// Name of the log.
  let log: String
  /// Name of the sidecar.
  let sidecar: String
  /// Name of the salvaged log of a session that cannot be mirrored, without `.log`.
  let salvaged: String
  private let session: SessionID

  /// The files of a session in a folder.
  init(of session: SessionID, in folder: OpenFolder) {
    (self.session, self.folder) = (session, folder)
    (log, sidecar, salvaged) = ("\(session).log", "\(session).json", "\(session).salvaged")
  }

  /// Name of a replaced log with bytes that the current one lacks, without `.log`.
  func earlier(_ generation: Int) -> String { "\(session).g\(generation)" }

  /// Name of what the file held in an earlier generation.
  func former(_ generation: Int) -> String { earlier(generation) + ".log" }

  /// The sidecar's bytes; none if it does not exist.
  func sidecarBytes() throws -> [UInt8] { try folder.read(sidecar) ?? [] }

  /// The log's digest.
  func digest() throws -> String { try LocalStream(OpenFile(log, in: folder), from: 0).digest() }

  /// Whether the log is not the sealed one that the sidecar states; otherwise another stream with
  /// the same name may have taken its place in the store.
  func isDamaged() throws -> Bool {
    guard let sidecar = try? Sidecar(json: sidecarBytes()), sidecar.status != .active,
      let said = sidecar.digest,
      try folder.status(of: log)?.length == sidecar.fileSizeBytes.bytes
    else { return false }
    return try digest() != said
  }

  // MARK: Former streams

  /// Whether a former stream is missing that the sidecar lists.
  ///
  /// - Parameter sidecar: the sidecar's bytes.
  func lacksFormer(_ sidecar: [UInt8]) throws -> Bool {
    guard sidecar.contains(Array(#""former""#.utf8)), let sidecar = try? Sidecar(json: sidecar)
    else { return false }
    return try (sidecar.former ?? []).contains { try !has($0) }
  }

  /// Whether a former stream is there, by its length.
  func has(_ stream: Sidecar.FormerStream) throws -> Bool {
    try folder.status(of: former(stream.generation))?.length == Int64(stream.length)
  }

  /// The same, compared with what a seal names: before, anybody's objects may have been mirrored.
  func has(_ stream: Sidecar.FormerStream, sealedIn remote: RemoteSession) throws -> Bool {
    guard try has(stream) else { return false }
    guard remote.seal != nil else { return true }
    let log = try LocalStream(OpenFile(former(stream.generation), in: folder), from: 0)
    return try remote.cover(upTo: stream.length, of: stream.generation)
      .allSatisfy { try $0.isPart(of: log) }
  }

  /// Names of logs of earlier generations that the store does not list any more, because they were
  /// redacted.
  ///
  /// Of a stream that it lost, the mirror may have the last copy.
  ///
  /// - Parameters:
  ///   - names: the names in the folder.
  ///   - sidecar: the store's sidecar.
  ///   - generation: the store's generation.
  func unlisted(_ names: [String], _ sidecar: Sidecar, upTo generation: Int) -> [String] {
    let listed = Set((sidecar.former ?? []).map(\.generation) + (sidecar.givenUp ?? []))
    return names.filter { name in
      let parts = name.split(separator: ".")
      guard parts.count > 2, parts.last == "log", parts[1].first == "g",
        let number = Int(parts[1].dropFirst()), parts[0] == session.description
      else { return false }
      return number < generation && !listed.contains(number)
    }
  }

  /// Removes logs of earlier generations that the store does not list any more.
  func removeUnlisted(_ sidecar: Sidecar, upTo generation: Int) throws {
    for name in unlisted(try folder.names(), sidecar, upTo: generation) { try folder.remove(name) }
  }
}
