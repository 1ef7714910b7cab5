import Foundation
import LogRecords
import Platform
import Replica
import SessionLog

/// A folder that mirrors remote sessions, `<device>/<day>/<session>.log` and `.json`.
///
/// The files themselves show what is missing. A sidecar is written once its log is complete and
/// durable.
struct MirrorFolder: Sendable {
  /// Permissions of its folders before the process's umask: others may be allowed to read it.
  static let rights: UInt32 = 0o777

  let path: String
  /// Whether attached files get a second name, `<device>/names/<path>/<session>.log`.
  let linksNames: Bool

  /// Paths of a mirrored session.
  struct Files {
    let directory: String
    let log: String
    let sidecar: String
    /// The salvaged log of a session that cannot be mirrored, without `.log`.
    let salvaged: String

    /// A replaced log with bytes that the current one lacks, without `.log`.
    func earlier(_ generation: Int) -> String { "\(base).g\(generation)" }

    /// What the file held in an earlier generation.
    func former(_ generation: Int) -> String { earlier(generation) + ".log" }

    fileprivate let base: String
  }

  /// The paths of a session.
  func files(of remote: RemoteSession) -> Files {
    let directory = "\(path)/\(remote.folder.device)/\(remote.folder.day)"
    let base = "\(directory)/\(remote.session)"
    return Files(
      directory: directory, log: base + ".log", sidecar: base + ".json",
      salvaged: base + ".salvaged", base: base)
  }

  /// A file's bytes; none if it does not exist.
  func content(of path: String) throws -> [UInt8] {
    do {
      return try AtomicFile.read(path)
    } catch let error as SystemError where error.isNotFound {
      return []
    }
  }

  /// Whether the mirror's log is not the sealed one that its sidecar states; otherwise another
  /// stream with the same name may have taken its place in the store.
  func isDamaged(_ files: Files) throws -> Bool {
    guard let sidecar = try? Sidecar(json: content(of: files.sidecar)), sidecar.status != .active,
      let said = sidecar.digest, try FileStatus(files.log)?.length == sidecar.fileSizeBytes.bytes
    else { return false }
    return try LocalStream(path: files.log).digest() != said
  }

  // MARK: Former streams

  /// Whether a mirrored session lacks a former stream that its sidecar lists.
  ///
  /// - Parameter sidecar: the mirror's sidecar.
  func lacksFormer(_ sidecar: [UInt8], _ files: Files) throws -> Bool {
    guard sidecar.contains(Array(#""former""#.utf8)), let sidecar = try? Sidecar(json: sidecar)
    else { return false }
    return try (sidecar.former ?? []).contains { try !has($0, files) }
  }

  /// Whether a session's former stream is there, by its length.
  func has(_ stream: Sidecar.FormerStream, _ files: Files) throws -> Bool {
    try FileStatus(files.former(stream.generation))?.length == Int64(stream.length)
  }

  /// A log of an earlier generation, as its name shows it.
  struct FormerLog {
    let path: String
    let session: String
    let generation: Int
  }

  /// The logs of earlier generations in a day's folder.
  func formerLogs(in directory: String) throws -> [FormerLog] {
    try Directory.names(in: directory).compactMap { name in
      let parts = name.split(separator: ".")
      guard parts.count > 2, parts.last == "log", parts[1].first == "g",
        let generation = Int(parts[1].dropFirst())
      else { return nil }
      return FormerLog(
        path: "\(directory)/\(name)", session: String(parts[0]), generation: generation)
    }
  }

  /// Those of a session that the store does not list any more, because they were redacted.
  ///
  /// Of a stream that it lost, the mirror may have the last copy.
  func unlisted(
    _ logs: [FormerLog], _ sidecar: Sidecar, of remote: RemoteSession
  ) -> [FormerLog] {
    let listed = Set((sidecar.former ?? []).map(\.generation) + (sidecar.givenUp ?? []))
    let session = remote.session.description
    return logs.filter {
      $0.session == session && $0.generation < remote.generation
        && !listed.contains($0.generation)
    }
  }

  /// Removes logs of earlier generations that the store does not list any more.
  func removeUnlisted(_ sidecar: Sidecar, of remote: RemoteSession) throws {
    let logs = try formerLogs(in: files(of: remote).directory)
    for log in unlisted(logs, sidecar, of: remote) { try File.remove(log.path) }
  }

  // MARK: Completed sessions

  /// Makes logs durable, and only then adds the sidecars, which mark them as complete.
  ///
  /// Blocks until all is durable.
  func settle(_ sessions: [FetchedSession]) throws {
    let logs = sessions.filter(\.hasLog).map { files(of: $0.item.remote).log }
    try AtomicFile.synchronize(logs)
    var problem: (any Error)?
    for session in sessions {
      let files = files(of: session.item.remote)
      try AtomicFile.write(session.json, to: files.sidecar, isDurable: false)
      guard linksNames, session.hasLog, session.sidecar.format == .asIs else { continue }
      // Without a second name, the session is mirrored all the same.
      do { try giveOriginalName(files.log, session) } catch { problem = error }
    }
    try AtomicFile.synchronize(sessions.map { files(of: $0.item.remote).sidecar })
    if let problem { throw problem }
  }

  /// Maximum number of folders in the path of an attached file: more could not be removed by name.
  private static let mostFolders = 100

  /// Links an attached file's log under its original name.
  private func giveOriginalName(_ log: String, _ session: FetchedSession) throws {
    let (original, remote) = (session.sidecar.fileName, session.item.remote)
    let parts = original.split(separator: "/")
    // Never follow a path from the store out of the mirror.
    guard original.utf8.count < 2048, !parts.isEmpty,
      !parts.contains(where: { $0 == "." || $0 == ".." || $0.contains("\0") })
    else { return }
    guard parts.count <= Self.mostFolders else {
      throw nameRefused(remote, "is below \(parts.count - 1) folders")
    }
    let directory = "\(path)/\(remote.folder.device)/names/" + parts.joined(separator: "/")
    let name = "\(directory)/\(remote.session).log"
    do {
      try Directory.make(directory, rights: Self.rights)
      if let known = try FileStatus(name) {
        guard try FileStatus(log)?.inode != known.inode else { return }
        // A replaced log is another file; let its name lead to the new one.
        try? File.remove(name)
      }
      try File.link(log, to: name)
    } catch {
      switch error.errno {
      case SystemError.Number.nameTooLong:
        throw nameRefused(remote, "is too long for this file system")
      case SystemError.Number.notAFolder:
        throw nameRefused(remote, "is below the name of another file")
      case SystemError.Number.taken:
        // Another process may have linked it.
        guard try FileStatus(name)?.kind == .directory else { return }
        throw nameRefused(remote, "is that of a folder of another file")
      default: throw error
      }
    }
  }

  /// The error for a name that no file on this system can have; the sidecar may be forged.
  private func nameRefused(_ remote: RemoteSession, _ why: String) -> ReplicaError {
    ReplicaError(
      .damagedObject,
      "\(remote.folder.key)\(remote.session) is mirrored, but not below names/: the original name of "
        + "its file \(why)")
  }
}
