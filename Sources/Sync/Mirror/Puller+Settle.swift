import Foundation
import LogRecords
import Platform
import Replica
import SessionLog

/// Makes fetched sessions durable, and names them.
extension Puller {
  /// Makes logs durable, and only then adds the sidecars, which mark them as complete.
  ///
  /// Blocks until all is durable.
  func settle(_ sessions: [Fetched]) throws {
    let logs = sessions.filter(\.hasLog).map { files(of: $0.item.remote).log }
    try AtomicFile.synchronize(logs)
    for session in sessions {
      let files = files(of: session.item.remote)
      try AtomicFile.write(session.json, to: files.sidecar, isDurable: false)
      if linksNames, session.hasLog, session.sidecar.format == .asIs {
        try giveOriginalName(files.log, session)
      }
    }
    try AtomicFile.synchronize(sessions.map { files(of: $0.item.remote).sidecar })
  }

  /// Links an attached file's log under its original name.
  private func giveOriginalName(_ log: String, _ session: Fetched) throws {
    let (name, remote) = (session.sidecar.fileName, session.item.remote)
    let parts = name.split(separator: "/")
    // Never follow a path from the store out of the mirror.
    guard name.utf8.count < 2048, !parts.isEmpty,
      !parts.contains(where: { $0 == "." || $0 == ".." || $0.contains("\0") })
    else { return }
    let directory = "\(folder)/\(remote.folder.device)/names/" + parts.joined(separator: "/")
    try Directory.make(directory, rights: Self.folderRights)
    let path = "\(directory)/\(remote.session).log"
    // A replaced log is another file; let its name lead to the new one.
    if let known = try FileStatus(path) {
      guard try FileStatus(log)?.inode != known.inode else { return }
      try? File.remove(path)
    }
    do {
      try File.link(log, to: path)
    } catch {
      // Another process may have linked it.
      guard error.isTaken else { throw error }
    }
  }
}
