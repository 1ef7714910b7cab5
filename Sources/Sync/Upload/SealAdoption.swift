import LogRecords
import Logging
import Platform
import Replica
import SessionLog

/// Adopts the seal of a session that this home does not know as sealed: it was restored from a
/// backup, or a power failure took the log's end and the record of the seal.
///
/// The local log is only read, and must be a prefix of the sealed stream, which must have the bytes of
/// every object of its generation that the store shows or this home has put: the home may have gone on
/// with another end than the one that was sealed. For an attached file that is gone, the home has only
/// the line that reports the loss. If nothing was read that was not sent, a longer seal proves it wrong:
/// the line is removed once the seal is recorded.
struct SealAdoption {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// Whether a listed seal knows more of a session than this home: more bytes, or how it ended.
  ///
  /// A recorder that only seemed dead may have continued after a seal, which is then replaced.
  static func isDue(_ state: SessionState, _ remote: RemoteSession) -> Bool {
    guard let verdict = state.verdict, let seal = remote.seal, state.log != nil,
      state.consent == .logs, state.uploadState.generation ?? 1 <= seal.generation
    else { return false }
    if let source = state.sidecar.source {
      // The seal of a killed pass has the line, too.
      return state.local.hasOnlyGap(of: source) && seal.length != state.length
    }
    if seal.length == state.length {
      return verdict.status == .crashed && seal.status == .terminated
    }
    return seal.length > state.length
  }

  /// Compares the sealed stream with the local log, and records the seal here.
  ///
  /// If that is impossible, the state says why, and the session is treated like any other.
  ///
  /// - Throws: ``ObjectStore/StoreError``; ``Platform/SystemError``.
  func adopt(_ remote: RemoteSession, _ state: inout SessionState) async throws {
    guard let seal = remote.seal else { return state.giveUpSeal(.unusable("it is gone")) }
    do {
      let sidecar = try await read(seal, remote, state)
      try await Sealer(writer).hold(state)
      if state.isSidecarDamaged { try Sealer(writer).quarantineSidecar(state) }
      if state.isAttached {
        try AttachedFiles(context.home).distrust()
        state.log = nil
      }
      try Sealer(writer).mark(sidecar, by: seal, length: seal.length, state)
    } catch let error as ReplicaError {
      let isOfOtherEnd = state.isAttached && error.code == .localLogChanged
      return state.giveUpSeal(isOfOtherEnd ? .ofOtherEnd("\(error)") : .unusable("\(error)"))
    }
    let more = seal.length - (state.sidecar.source?.length ?? state.length)
    context.logger.notice(
      "\(state.session): sealed already as \(seal.fileName), with \(more) bytes that are not here")
    writer.report(.sealed(session: state.session, status: seal.status, hasSuperseded: true))
  }

  /// Reads the sealed stream, verified against names, links and digest, and compares the beginning
  /// with the local log.
  ///
  /// - Returns: the sidecar as this home keeps it.
  private func read(
    _ seal: RevisionName, _ remote: RemoteSession, _ state: SessionState
  ) async throws -> Sidecar {
    let reader = RemoteReader(context.store, knowing: context.keys)
    let accepted = try await reader.accept(remote)
    guard let said = accepted.sidecar, !said.withholdsLog else {
      throw ReplicaError(.missingBytes, "\(seal.fileName) is the seal of a session without its log")
    }
    let sealed = try accepted.session()
    guard sealed.holds(said.objects ?? [], length: seal.length), sealed.holds(said.basis ?? [])
    else {
      let listed = Set(remote.segments.map(\.fileName))
      let missing = ((said.objects ?? []) + (said.basis ?? [])).filter { !listed.contains($0) }
      throw ReplicaError(
        .missingBytes,
        "\(missing.joined(separator: ", ")), which \(seal.fileName) names, is not whole in the store"
      )
    }
    var bound = state
    try bound.bind(said.redaction ?? [], context)
    let log = try bound.requireView()
    if let source = state.sidecar.source {
      try expectMore(than: source, said, seal, state)
      try expectNothingUnsent(of: source, state)
    }
    let local = try state.isAttached ? 0..<0 : log.available()
    var position = StreamOffset.zero
    let known = Set(state.entry.segments.keys).union(state.vanished).union(state.entry.intended)
    var comparison = StreamComparison(known.filter { $0.generation == seal.generation })
    try await reader.read(sealed, upTo: seal.length) { piece in
      comparison.add(piece)
      let range = (position..<position + ByteCount(piece.count)).clamped(to: local)
      if !range.isEmpty {
        let first = Int(range.lowerBound - position)
        let own = UnsafeRawBufferPointer(
          rebasing: piece[first..<first + Int(range.byteCount)])
        guard try log.has(own, in: range) else {
          throw ReplicaError(
            .localLogChanged,
            "\(log.path) differs from what was sealed between bytes \(range.lowerBound) and "
              + "\(range.upperBound)")
        }
      }
      position += ByteCount(piece.count)
    }
    if let other = comparison.missing {
      throw ReplicaError(
        .localLogChanged,
        "\(other.fileName) holds other bytes than \(seal.fileName) has there: this home was copied or "
          + "restored, and the log has two ends")
    }
    if bound.isAttached { bound.sidecar.source?.length = seal.length }
    return bound.sidecar.asSealed(by: said)
  }

  /// Expects that this home did not go on after the seal, which then is one that it put.
  private func expectMore(
    than source: Sidecar.Source, _ said: Sidecar, _ seal: RevisionName, _ state: SessionState
  ) throws {
    let own = Set(state.entry.own.map(\.fileName))
    guard seal.length <= source.length ?? .zero, own.isSuperset(of: said.objects ?? []) else {
      return
    }
    throw ReplicaError(.missingBytes, "\(seal.fileName) lacks bytes that were sent since")
  }

  /// Expects that no bytes of a lost file were read but not sent, which the seal may lack.
  private func expectNothingUnsent(
    of source: Sidecar.Source, _ state: SessionState
  ) throws {
    let line = try AtomicFile.readStart(state.local.files.log, count: GapLine.longestStart)
    guard let missing = GapLine.missing(in: String(decoding: line, as: UTF8.self)) else { return }
    throw ReplicaError(
      .localLogChanged,
      "\(ByteCount(missing).text) of \(source.path) were read here but not sent, and the seal may be "
        + "of another end of the log")
  }
}

extension SessionState {
  /// Treats the session as if the store had no seal of it.
  fileprivate mutating func giveUpSeal(_ doubt: SealDoubt) {
    (unknownSeal, sealDoubt) = (nil, doubt)
  }
}

/// Why a seal that this home does not know cannot be adopted.
enum SealDoubt {
  /// Another seal may take its place.
  case unusable(String)
  /// It is that of another end of an attached log, which another seal would hide.
  case ofOtherEnd(String)
}
