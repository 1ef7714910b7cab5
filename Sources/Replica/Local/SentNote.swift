import Foundation
import Platform
package import SessionLog

/// What the uploader notes of a session until its seal, in a file of its own, as the sidecar is the
/// recorder's.
package struct SentNote: Codable, Equatable {
  /// Which rules bind which bytes; nil when nothing is known of any.
  package var redaction: [Sidecar.RedactionEpoch]?
  /// The generation as which a recorded stream is wanted; nil for the first.
  package var generation: Int?
  /// What the newest revision in the store says of the log's leaving; nil when none said so yet.
  package var consent: Consent?

  /// Knows nothing.
  package init() {}
}

extension SentNote {
  /// Reads the JSON.
  ///
  /// - Throws: `DecodingError`, also for numbers that no session has.
  package init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(SentNote.self, from: Data(json))
    try Sidecar.check(redaction)
    try Sidecar.check("generation", generation, in: Sidecar.generations)
  }

  /// The JSON, keys sorted.
  ///
  /// - Throws: `EncodingError`.
  func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return Array(try encoder.encode(self))
  }
}

/// What the uploader has noted of a session.
extension LocalSession {
  /// The note; nil when there is none that can be read.
  package func sentNote() throws -> SentNote? {
    do {
      let bytes = try AtomicFile.read(files.redaction)
      return try? SentNote(json: bytes)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// Replaces the note.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func write(_ note: SentNote, isDurable: Bool) throws {
    try AtomicFile.write(note.json(), to: files.redaction, isDurable: isDurable)
  }

  /// The epochs; nil when nothing is known of any.
  package func redaction(_ sidecar: Sidecar) throws -> [Sidecar.RedactionEpoch]? {
    guard sidecar.seal == nil else { return sidecar.redaction }
    return try sentNote()?.redaction ?? sidecar.redaction
  }

  /// The generation of which the local log is.
  package func generation(_ sidecar: Sidecar) throws -> Int {
    guard sidecar.source == nil, sidecar.seal == nil else { return sidecar.generation ?? 1 }
    return try sentNote()?.generation ?? sidecar.generation ?? 1
  }

  /// What was last said of the log's leaving: in the store, else by whoever began the session.
  package func saidConsent(_ sidecar: Sidecar) throws -> Consent {
    let noted = sidecar.seal == nil ? try sentNote()?.consent : nil
    return noted ?? sidecar.consent ?? .logs
  }
}
