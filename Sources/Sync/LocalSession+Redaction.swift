import Foundation
import Platform
import Replica
import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the uploader notes of a session until its seal, in a file of its own, as the sidecar is the
/// recorder's.
struct SentNote: Codable, Equatable {
  /// Which rules bind which bytes; nil when nothing is known of any.
  var redaction: [Sidecar.RedactionEpoch]?
  /// The generation as which a recorded stream is wanted; nil for the first.
  var generation: Int?
  /// What the newest revision in the store says of the log's leaving; nil when none said so yet.
  var consent: Consent?
}

extension SentNote {
  /// Reads the JSON.
  ///
  /// - Throws: `DecodingError`, also for numbers that no session has.
  init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SentNote.self, from: Data(json))
    try Sidecar.check(redaction)
    try Sidecar.check("generation", generation, in: Sidecar.generations)
  }
}

/// Which rules redacted what was sent of a session.
extension LocalSession {
  /// The note; nil when there is none that can be read.
  func sentNote() throws -> SentNote? {
    do {
      let bytes = try AtomicFile.read(files.redaction)
      return try? SentNote(json: bytes)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// The epochs; nil when nothing is known of any.
  func redaction(_ sidecar: Sidecar) throws -> [Sidecar.RedactionEpoch]? {
    guard sidecar.seal == nil else { return sidecar.redaction }
    return try sentNote()?.redaction ?? sidecar.redaction
  }

  /// The generation of which the local log is.
  func generation(_ sidecar: Sidecar) throws -> Int {
    guard sidecar.source == nil, sidecar.seal == nil else { return sidecar.generation ?? 1 }
    return try sentNote()?.generation ?? sidecar.generation ?? 1
  }

  /// Notes epochs and, for a recorded stream, its generation.
  ///
  /// The first epoch of a first generation can be found again by trying; before anything is sent of
  /// another, it is certain to be remembered.
  func note(_ epochs: [Sidecar.RedactionEpoch], generation: Int?) throws {
    let consent = try sentNote()?.consent
    try write(
      SentNote(redaction: epochs, generation: generation, consent: consent),
      isDurable: epochs.count > 1 || generation != nil || consent != nil)
  }

  func write(_ note: SentNote, isDurable: Bool) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try AtomicFile.write(
      Array(try encoder.encode(note)), to: files.redaction, isDurable: isDurable)
  }

  /// The stream as it leaves, or has left, this machine; nil when nothing of it is here.
  ///
  /// - Throws: ``Replica/ReplicaError`` where rules are missing that bind it.
  func openSentLog(_ sidecar: Sidecar, _ context: SyncContext) throws -> LocalStream? {
    let epochs = try redaction(sidecar) ?? []
    let stretches = try context.redaction.stretches(epochs)
    return try openLog(sidecar.source)?.redacted(by: stretches, sidecar.format)
  }
}
