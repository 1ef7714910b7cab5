import Foundation
import LogRecords
import Platform
import Replica
import SessionLog

/// A folder that mirrors remote sessions, `<device>/<day>/<session>.log` and `.json`.
///
/// The files themselves show what is missing. A sidecar is written once its log is complete and
/// durable. Nothing in the mirror is reached through a link that another user made.
struct MirrorFolder: Sendable {
  /// Permissions of its folders before the process's umask: others may be allowed to read it.
  private static let rights: UInt32 = 0o777

  let path: String
  /// Whether attached files get a second name, `<device>/names/<path>/<session>.log`.
  let linksNames: Bool

  /// Opens the folder of a device's day; nil if it is missing.
  func day(_ folder: SessionFolder) throws(SystemError) -> OpenFolder? {
    do {
      return try OpenFolder(foreign: path(of: folder))
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// Opens the folder of a device's day, and creates it if it is missing.
  func makeDay(_ folder: SessionFolder) throws(SystemError) -> OpenFolder {
    try OpenFolder(foreign: path(of: folder), creating: Self.rights)
  }

  /// The path of a device's day.
  func path(of folder: SessionFolder) -> String { "\(path)/\(folder.device)/\(folder.day)" }

  // MARK: Completed sessions

  /// Makes logs durable, and only then adds the sidecars, which mark them as complete.
  ///
  /// Blocks until all is durable.
  func settle(_ sessions: [FetchedSession]) throws {
    var problem: (any Error)?
    for (folder, sessions) in Dictionary(grouping: sessions, by: \.item.remote.folder) {
      let day = try makeDay(folder)
      let all = sessions.map { ($0, MirroredFiles(of: $0.item.remote.session, in: day)) }
      try Self.synchronize(all.filter(\.0.hasLog).map(\.1.log), in: day)
      for (session, files) in all {
        try day.write(session.json, to: files.sidecar)
        guard linksNames, session.hasLog, session.sidecar.format == .asIs else { continue }
        // Without a second name, the session is mirrored all the same.
        do { try giveOriginalName(files, session) } catch { problem = error }
      }
      try Self.synchronize(all.map(\.1.sidecar), in: day)
    }
    if let problem { throw problem }
  }

  /// Makes files durable that were written without syncing; see ``AtomicFile/synchronize(_:)``.
  private static func synchronize(_ names: [String], in folder: OpenFolder) throws {
    for name in names { try OpenFile(name, in: folder).synchronize() }
    try folder.synchronize()
  }

  /// Maximum number of folders in the path of an attached file: more could not be removed by name.
  private static let mostFolders = 100

  /// Links an attached file's log under its original name.
  private func giveOriginalName(_ files: MirroredFiles, _ session: FetchedSession) throws {
    let remote = session.item.remote
    // The name is the store's word: no terminal that lists the mirror may obey it.
    let original = String(oneLine: session.sidecar.fileName)
    let parts = original.split(separator: "/")
    // Never follow a path from the store out of the mirror.
    guard original.utf8.count < 2048, !parts.isEmpty,
      !parts.contains(where: { $0 == "." || $0 == ".." || $0.contains("\0") })
    else { return }
    guard parts.count <= Self.mostFolders else {
      throw nameRefused(remote, "is below \(parts.count - 1) folders")
    }
    let directory = "\(path)/\(remote.folder.device)/names/" + parts.joined(separator: "/")
    let name = "\(remote.session).log"
    do {
      let names = try OpenFolder(foreign: directory, creating: Self.rights)
      if let known = try names.status(of: name) {
        guard try files.folder.status(of: files.log)?.inode != known.inode else { return }
        guard known.kind != .directory else {
          throw nameRefused(remote, "is that of a folder of another file")
        }
        // A replaced log is another file; let its name lead to the new one.
        try names.remove(name)
      }
      try files.folder.link(files.log, to: name, in: names)
    } catch let error as SystemError {
      switch error.errno {
      case SystemError.Number.nameTooLong:
        throw nameRefused(remote, "is too long for this file system")
      case SystemError.Number.notAFolder:
        throw nameRefused(remote, "is below the name of another file")
      case SystemError.Number.taken: break  // Another process has linked it.
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
