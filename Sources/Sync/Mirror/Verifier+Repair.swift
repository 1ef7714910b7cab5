import ObjectStore
import Platform
package import Replica
package import SessionLog

/// Repair of remote copies from what is on this machine.
extension Verifier {
  /// Whether this home has put something of a session that is not sealed: the store should have it.
  ///
  /// - Throws: errors of the manifest.
  package func hasSent(_ session: SessionID) throws -> Bool {
    try context.manifest.entry(session)?.hasBegun ?? false
  }

  /// Why sending from the local log cannot repair a remote copy; nil if it can.
  ///
  /// A log that lost its end must not replace the longer remote copy, nor a rewritten file the
  /// sealed one.
  ///
  /// - Parameter remote: the session in a listing.
  /// - Throws: errors of the local files.
  package func obstacle(to remote: RemoteSession) throws -> String? {
    let local = LocalSession(context.home, remote.session)
    let (sidecar, _) = try local.sidecar(device: context.device)
    if let source = sidecar.source, let obstacle = try obstacle(from: source, of: sidecar) {
      return obstacle
    }
    if let seal = sidecar.seal, sidecar.lacksSentPart(in: remote) {
      return "the store lacks some of the first \(seal.length) bytes, which were sent before the "
        + "consent withheld the rest, and the consent does not allow sending them again: put the "
        + "objects back from a backup or the bucket's versions"
    }
    guard let log = try local.openLog(sidecar.source) else { return nil }
    if let changed = try changedLog(of: local, sidecar) ?? editedLog(of: local, sidecar) {
      return changed
    }
    let first = try log.available().lowerBound
    let mark = try mark(of: remote, sidecar)
    guard sidecar.source != nil || first <= mark else {
      let gone = mark..<first
      let pruned = try DeletionLedger(context.home).prunedParts(of: remote.session)
      let why =
        pruned.contains { $0.overlaps(gone) }
        ? "which pruned them once they were stored: put the objects back from a backup or the "
          + "bucket's versions"
        : "where a rotated part is missing, which this home did not delete: put it back from a "
          + "backup, or the objects from a backup or the bucket's versions"
      return
        "bytes \(gone.lowerBound) to \(first) are neither in the store nor on this "
        + "machine, \(why)"
    }
    let known = try context.knownObjects(sidecar)
    let whole = try log.afterHoles().available().lowerBound
    if !known.isEmpty, let other = remote.cover(upTo: whole).first(where: { !known.contains($0) }) {
      return
        "\(remote.folder.key)\(other.fileName) is not among the objects that were sent, and this "
        + "machine no longer has its bytes: somebody else may have put it. Put back what was sent from "
        + "a backup or the bucket's versions"
    }
    guard sidecar.source == nil else { return nil }
    let (length, end) = (try log.status().length, remote.segments.map(\.range.upperBound).max())
    guard let end, length < end else { return nil }
    return "\(log.path) ends at byte \(length), and lost what the store has up to byte \(end): it "
      + "cannot mend this copy; 'tidemark pull' salvages what can be read"
  }

  /// The offset up to which the store has the generation that the local log is of.
  private func mark(of remote: RemoteSession, _ sidecar: Sidecar) throws -> StreamOffset {
    let local = LocalSession(context.home, remote.session)
    return try remote.generation == local.generation(sidecar) ? remote.mark : 0
  }

  /// Why an attached file cannot repair the copy of its session: it holds other bytes than were sent.
  private func obstacle(from source: Sidecar.Source, of sidecar: Sidecar) throws -> String? {
    guard !source.isGone, source.length != 0,
      let sent = try SentBytes(sidecar.sessionId, context),
      let content = try? FileContent(source.path), try !sent.areIn(content)
    else { return nil }
    return
      "\(source.path) was rewritten or rotated, and does not hold what was sent: it cannot mend this "
      + "copy; the next 'tidemark upload' finds out what it has become"
  }

  /// Makes the next pass send the bytes that the remote copy lacks, from the local log.
  ///
  /// Former streams that can no longer be read are given up, and that is recorded; before that, the
  /// session is listed again, and objects that it lacks are asked for by name.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - remote: the session in a listing. It may have what was pruned here.
  ///   - lock: the home's lock.
  ///   - report: called with each stream that is given up, for a person.
  /// - Returns: whether there is a local log to send, and the consent allows it.
  /// - Throws: errors of the store, of the local files and of the manifest.
  package func reopen(
    _ session: SessionID, having remote: RemoteSession, holding lock: HomeLock,
    givingUp report: (String) -> Void = { _ in }
  ) async throws -> Bool {
    let (sidecar, _) = try LocalSession(context.home, session).sidecar(device: context.device)
    var remote = remote
    var lost = try await lostStreams(of: sidecar, in: remote)
    if !lost.isEmpty {
      // One listing is no evidence of a loss.
      remote = try await lookAgain(for: sidecar, in: remote.folder)
      lost = try await lostStreams(of: sidecar, in: remote)
    }
    let isReopened = try reopen(
      session, having: { try mark(of: remote, $0) }, in: remote, givingUp: lost, holding: lock)
    if isReopened { for one in lost { report("\(one.name) is given up: \(one.finding)") } }
    return isReopened
  }

  /// Makes the next pass send a session again, from the local log.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - lock: the home's lock.
  /// - Returns: whether there is a whole local log to send, and the consent allows it.
  /// - Throws: errors of the local files and of the manifest.
  package func reopen(_ session: SessionID, holding lock: HomeLock) throws -> Bool {
    try reopen(session, having: { _ in 0 }, in: nil, givingUp: [], holding: lock)
  }

  /// Makes the next pass send what the log has beyond the sealed stream, and seal it again.
  ///
  /// What was pruned is not asked for: the pass that sends the rest lists the store, and names what is
  /// nowhere.
  ///
  /// - Parameters:
  ///   - session: a session that is sealed in the configured store.
  ///   - lock: the home's lock.
  /// - Returns: whether the consent allows it.
  /// - Throws: errors of the local files and of the manifest.
  func continueSealed(_ session: SessionID, holding lock: HomeLock) throws -> Bool {
    try reopen(session, having: { _ in .max }, in: nil, givingUp: [], holding: lock)
  }

  /// - Parameter mark: the offset up to which what is not local may be expected in the store.
  private func reopen(
    _ session: SessionID, having mark: (Sidecar) throws -> StreamOffset, in remote: RemoteSession?,
    givingUp lost: [LostStream], holding lock: HomeLock
  ) throws -> Bool {
    lock.expect(context.home)
    let local = LocalSession(context.home, session)
    var (sidecar, _) = try local.sidecar(device: context.device)
    guard context.consent == .logs || sidecar.withholdsLog, !sidecar.lacksSentPart(in: remote)
    else { return false }
    try SealedSource(of: local, context).copy(for: &sidecar)
    guard let log = try local.openLog(sidecar.source) else { return false }
    let here = try log.available()
    guard try !Self.isBeyondSeal(here, sidecar) && here.lowerBound <= mark(sidecar)
    else { return false }
    let found = sidecar
    // What is lost for good must not keep the rest from its seal.
    try giveUp(lost, &sidecar)
    sidecar.seal = nil
    // It is wanted in the store again, so that age alone no longer decides about the local copy.
    sidecar.remoteReapedAt = nil
    // Before the seal goes: without the marker no pass would find the session, and without the objects
    // that were sent it would accept any others for bytes that are not local any more.
    try context.home.mark(session)
    try context.forgetSent(sidecar)
    // That of a running session is its recorder's, which may just write how it ended.
    if sidecar != found { try sidecar.save(local.files.sidecar) }
    VanishedCopies.forget(session, of: context)
    return true
  }

  /// Whether a local log has only bytes after the sealed ones; an attached session ends with its seal,
  /// so that they are no part of its stream.
  private static func isBeyondSeal(_ log: Range<StreamOffset>, _ sidecar: Sidecar) -> Bool {
    guard sidecar.source != nil, !sidecar.withholdsLog, let seal = sidecar.seal, seal.length > 0
    else { return false }
    return log.lowerBound >= seal.length && !log.isEmpty
  }

  /// A session in another listing, completed with the objects that this home knows and that the listing
  /// lacks, if they are there by name.
  private func lookAgain(
    for sidecar: Sidecar, in folder: SessionFolder
  ) async throws -> RemoteSession {
    let session = sidecar.sessionId
    let known = try context.manifest.entry(session)?.segments.keys.map(\.fileName) ?? []
    // A home's owner decides what its sidecars say: other sessions' objects are none of this one's.
    let sealed = ((sidecar.objects ?? []) + (sidecar.basis ?? [])).filter {
      SegmentName($0)?.session == session
    }
    return try await FolderListings(context.store).session(
      session, in: folder, expecting: known + sealed)
  }

  /// A former stream that can no longer be read, and what is missing.
  private struct LostStream {
    let stream: Sidecar.FormerStream
    let what: String

    var name: String { "generation \(stream.generation)" }

    var finding: String {
      "\(what) are not in the store any more; the file held it until \(stream.until)"
    }
  }

  /// Finds former streams with missing bytes, or whose deltas copy from missing objects.
  ///
  /// Of a sealed session only the objects that its seal names count.
  private func lostStreams(
    of sidecar: Sidecar, in remote: RemoteSession
  ) async throws -> [LostStream] {
    let named = Set(sidecar.seal == nil ? [] : sidecar.basis ?? [])
    let stored = named.isEmpty ? remote : remote.keeping { named.contains($0.fileName) }
    var lost: [LostStream] = []
    for stream in sidecar.former ?? [] {
      let mark = stored.mark(of: stream.generation)
      if mark < stream.length {
        lost.append(LostStream(stream: stream, what: "bytes \(mark) to \(stream.length) of it"))
      } else if let name = try await segmentWithoutBasis(of: stream, in: stored) {
        lost.append(
          LostStream(stream: stream, what: "objects that \(name.fileName) copies from"))
      }
    }
    return lost
  }

  /// The first delta of a former stream that copies from an object that is gone.
  private func segmentWithoutBasis(
    of stream: Sidecar.FormerStream, in remote: RemoteSession
  ) async throws -> SegmentName? {
    for name in remote.cover(upTo: stream.length, of: stream.generation) where name.kind == .delta {
      do {
        if try await !context.reader.hasBasis(of: name, in: remote) { return name }
      } catch is ReplicaError {
        // A damaged object does not say what it copies from.
        continue
      }
    }
    return nil
  }

  /// Gives up former streams, and records that.
  private func giveUp(_ lost: [LostStream], _ sidecar: inout Sidecar) throws {
    guard !lost.isEmpty else { return }
    let entries = lost.map { lost in
      DeletionLedger.Entry(
        at: context.now(), session: sidecar.sessionId, copy: .remote,
        what: lost.name, ground: .lost, finding: "\(lost.finding): sealed again without it")
    }
    try DeletionLedger(context.home).append(entries, isDurable: true)
    let gone = lost.map(\.stream)
    let former = (sidecar.former ?? []).filter { !gone.contains($0) }
    sidecar.former = former.isEmpty ? nil : former
    let givenUp = Set((sidecar.givenUp ?? []) + gone.map(\.generation)).sorted()
    sidecar.givenUp = givenUp.suffix(Sidecar.mostFormerStreams)
  }
}
