import ObjectStore
import Replica
import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A recorded session never changes what was sent: where its log is shorter or differs, this machine
/// has lost it, to a power loss say, and the remote copy is the right one.
extension SessionUpload {
  /// Fetches back what the live log has lost, and says so in it.
  ///
  /// A log with bytes that the remote does not have is kept in the quarantine.
  ///
  /// - Returns: whether the log is now what was sent; not while somebody writes it, and not where the
  ///   remote copy or a rotated part is in doubt too.
  func restore() async throws -> Bool {
    guard sidecar.source == nil,
      let lock = try SessionLock.tryExclusive(local.files.lock)
    else { return false }
    defer { withExtendedLifetime(lock) {} }
    // What this pass has sent counts too.
    await folders.forget(folder)
    let remote = try await folders.session(session, in: folder)
    let log = try RecordedLog(local.files)
    // Another generation is wanted because its bytes are others, not because any were lost.
    guard remote.mark > log.base, try remote.generation == wantedGeneration(),
      try arePartsAsSent(log, remote)
    else { return false }

    let temporary = local.files.log + ".restored.tmp"
    let lost = try await fetch(remote, from: log.base, to: temporary, comparing: log)
    if lost {
      let kept = "\(context.home.quarantinePath)/\(session).log"
      try LocalSession.remove(kept)
      guard link(local.files.log, kept) == 0 || errno == ENOENT else {
        throw SystemError(operation: "link", path: kept, errno: errno)
      }
    }
    guard rename(temporary, local.files.log) == 0 else {
      throw SystemError(operation: "rename", path: local.files.log, errno: errno)
    }
    try AtomicFile.synchronize([local.files.log])
    try context.manifest.forget(session)
    return true
  }

  /// Rotated parts were made durable before they became parts.
  private func arePartsAsSent(_ recorded: RecordedLog, _ remote: RemoteSession) throws -> Bool {
    guard let log = try local.openSentLog(sidecar, context) else { return false }
    return try remote.segments.allSatisfy {
      let isInParts =
        recorded.start <= $0.range.lowerBound && $0.range.upperBound <= recorded.base
      return try !isInParts || $0.matches(log)
    }
  }

  /// Writes what the remote has from an offset on, and the line that says so, to a file.
  ///
  /// - Returns: whether the log has bytes there that the remote has not.
  private func fetch(
    _ remote: RemoteSession, from base: Int64, to path: String, comparing log: RecordedLog
  ) async throws -> Bool {
    let file = try MirrorFile(path)
    try file.truncate(to: 0)
    let length = try log.extent().end
    let sent = try local.openSentLog(sidecar, context)
    var position = base
    var isOther = length > remote.mark
    var last: UInt8 = 0x0a
    try await RemoteReader(context.store).read(remote, from: base, upTo: remote.mark) { piece in
      let end = min(length, position + Int64(piece.count))
      let here = position < end ? try sent?.read(position..<end) ?? [] : []
      if !piece.starts(with: here) { isOther = true }
      position += Int64(piece.count)
      last = piece.last ?? last
      try file.append(piece)
    }
    let missing = length > remote.mark ? length - remote.mark : nil
    let reason =
      "the log had lost what was sent, and was fetched back"
      + (isOther ? "; what it had instead is quarantine/\(session).log" : "")
    let line = GapLine.record(missing, reason, at: context.now())
    try ((last == 0x0a ? [] : [0x0a]) + line).withUnsafeBytes { try file.append($0) }
    try file.synchronize()
    return isOther
  }
}
