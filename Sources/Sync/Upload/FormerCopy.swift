import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// The copy of a session that this home sent under a former device id.
///
/// A session that is not sealed is sent again under the present id. Of bytes that this machine has
/// pruned, the former copy has the only ones: its objects are put again, as they are. Names and
/// content do not depend on the device.
struct FormerCopy {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// The former ids under which the session may have been sent, the likeliest first.
  func devices(_ state: SessionState) -> [String] {
    let own = context.device.ids.filter { $0 != writer.folder.device }
    // Where root sends for all users, a sidecar is a user's word.
    guard context.ownership == nil, let named = state.formerDevice, Device.isID(named) else {
      return own
    }
    return [named] + own.filter { $0 != named }
  }

  /// Puts the objects that hold the bytes before the local log, if this device's copy lacks them.
  ///
  /// If no former copy has them all, nothing is put.
  func bring(_ state: inout SessionState) async throws {
    guard !state.isAttached, state.isOfThisGeneration, state.entry.generation == 1,
      let log = state.view, try state.entry.sent < log.available().lowerBound
    else { return }
    for device in devices(state) {
      let folder = SessionFolder(device: device, session: state.session)
      guard let objects = try await objects(in: folder, log, state) else { continue }
      context.logger.notice(
        "\(state.session): \(Plural.text(objects.count, "object")) of \(folder.key) are put again")
      for name in objects { try await put(name, from: folder, &state) }
      state.entry.link = try log.link(before: state.entry.sent)
      return try writer.save(&state)
    }
  }

  /// The objects that hold every byte before the local log; nil if some are missing, or not of this
  /// home.
  private func objects(
    in folder: SessionFolder, _ log: LocalStream, _ state: SessionState
  ) async throws -> [SegmentName]? {
    let listing = try await FolderListing(folder, session: state.session, in: context.store)
    var remote = listing[state.session, in: folder]
    if let ownership = context.ownership {
      guard try await ownership.finding(remote, by: context.reader).isOwn else { return nil }
    }
    let manifest = try Manifest(
      home: context.home, store: context.store.location, device: folder.device)
    if let known = try manifest.entry(state.session) {
      remote = remote.keeping { known.segments[$0] != nil }
    }
    let local = try log.available()
    let cover = remote.cover(upTo: local.lowerBound, of: 1)
    guard remote.generation == 1, let end = cover.last?.range.upperBound,
      (local.lowerBound...local.upperBound).contains(end),
      cover.allSatisfy({ $0.kind == .plain })
    else { return nil }
    for name in cover {
      guard try await matches(name, in: folder, log, local) else { return nil }
    }
    return cover.filter { $0.range.upperBound > state.entry.sent }
  }

  /// Whether an object is whole, and equal to what is here of its bytes.
  private func matches(
    _ name: SegmentName, in folder: SessionFolder, _ log: LocalStream,
    _ local: Range<StreamOffset>
  ) async throws -> Bool {
    var position = name.range.lowerBound
    var isEqual = true
    do {
      try await context.reader.read(name, in: folder) { piece in
        let range = position..<position + ByteCount(piece.count)
        let known = range.clamped(to: local)
        if isEqual, !known.isEmpty {
          let first = Int(known.lowerBound - range.lowerBound)
          let own = UnsafeRawBufferPointer(rebasing: piece[first..<first + Int(known.byteCount)])
          isEqual = try log.has(own, in: known)
        }
        position = range.upperBound
      }
    } catch let error as ReplicaError {
      context.logger.warning("\(folder.key)\(name.fileName): \(error)")
      return false
    }
    return isEqual
  }

  private func put(
    _ name: SegmentName, from folder: SessionFolder, _ state: inout SessionState
  ) async throws {
    try await context.bodies.withUnits(Int(clamping: name.stored)) { _ in
      let body = try await context.store.get(folder.key + name.fileName)
      let key = writer.folder.key + name.fileName
      try writer.begin(&state)
      guard ByteCount(body.count) == name.stored,
        let receipt = try await writer.putOnce(key, body)
      else {
        throw ReplicaError(.damagedObject, "\(key) holds something else than \(folder.key) has")
      }
      state.entry.segments[name] = receipt.provesContent
      state.entry.own(name)
      let new = max(0, name.range.upperBound - state.entry.sent)
      state.entry.sent = max(state.entry.sent, name.range.upperBound)
      try writer.finish(&state)
      writer.report(
        .sent(session: state.session, logBytes: new, storedBytes: ByteCount(body.count)))
    }
  }
}
