import Foundation
package import Platform
package import SessionLog

/// The uploader's state of a session until its seal.
///
/// It is a separate file because the sidecar is its recorder's to write while that may run: uploads
/// change only those of ended, sealed and attached sessions.
package struct UploadState: Codable, Equatable {
  /// Which rules bind which bytes; nil if none are known.
  package var redaction: [Sidecar.RedactionEpoch]?
  /// The generation that a recorded stream is to have, or that a redaction begins; nil for the
  /// first.
  package var generation: Int?
  /// The epochs of what was sent before a redaction that has begun; nil if none has.
  package var replaced: [Sidecar.RedactionEpoch]?
  /// Whether the sidecar of an attached session has had the generation that a redaction begins.
  package var hasBegun: Bool?
  /// Former streams before that generation that stay, because the rules mask nothing of them; nil
  /// for none.
  package var kept: [Int]?
  /// The consent stated by the newest revision in the store; nil if none has stated it.
  package var consent: Consent?
  /// The consent of the last upload since that found the session open; nil if it was the same.
  package var found: Consent?
  /// When its remote copy was deleted on request; nil if it may be uploaded.
  package var withdrawnAt: Timestamp?

  /// An empty state.
  package init() {}
}

extension UploadState {
  /// Reads the JSON.
  ///
  /// - Throws: `DecodingError`, also for numbers that no session has.
  package init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(UploadState.self, from: Data(json))
    try Sidecar.check(redaction)
    try Sidecar.check(replaced)
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

/// The uploader's state of a session.
extension LocalSession {
  /// Reads the state; nil if there is no readable one.
  package func loadUploadState() throws -> UploadState? {
    do {
      let bytes = try AtomicFile.read(files.uploadState)
      return try? UploadState(json: bytes)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// Reads the state that counts beside a sidecar; nil if there is no readable one.
  ///
  /// A redaction of an attached session that died before the sidecar had its generation has not begun.
  package func loadUploadState(beside sidecar: Sidecar) throws -> UploadState? {
    guard var uploadState = try loadUploadState() else { return nil }
    if sidecar.source != nil, uploadState.hasBegun != true {
      uploadState.withdrawRedaction(beyond: sidecar.generation ?? 1)
    }
    return uploadState
  }

  /// Replaces the state.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func write(_ uploadState: UploadState, isDurable: Bool) throws {
    try AtomicFile.write(uploadState.json(), to: files.uploadState, isDurable: isDurable)
  }

  /// Withdraws the session from the store, durably: no pass sends it until ``readmit()``.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func withdraw(at time: Timestamp) throws {
    var uploadState = try loadUploadState() ?? UploadState()
    uploadState.withdrawnAt = time
    try write(uploadState, isDurable: true)
  }

  /// Records, durably, the consent of an upload that found the session open: if it has ended by the
  /// time its turn comes, or the store was out of reach, that still counts.
  ///
  /// - Parameter consent: nil if it is what the newest revision states.
  /// - Throws: ``Platform/SystemError``.
  package func recordFound(_ consent: Consent?) throws {
    var uploadState = try loadUploadState() ?? UploadState()
    uploadState.found = consent
    try write(uploadState, isDurable: true)
  }

  /// Ends a withdrawal.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func readmit() throws {
    guard var uploadState = try loadUploadState(), uploadState.withdrawnAt != nil else { return }
    uploadState.withdrawnAt = nil
    try write(uploadState, isDurable: true)
  }

  /// The epochs; nil if none are known.
  package func redaction(_ sidecar: Sidecar) throws -> [Sidecar.RedactionEpoch]? {
    try knownUploadState(sidecar).redaction(sidecar)
  }

  /// The generation of the local log.
  package func generation(_ sidecar: Sidecar) throws -> Int {
    try knownUploadState(sidecar).generation(sidecar)
  }

  /// The consent that the store's newest revision states; without one, that at the session's start.
  package func saidConsent(_ sidecar: Sidecar) throws -> Consent {
    try knownUploadState(sidecar).consent(sidecar)
  }

  private func knownUploadState(_ sidecar: Sidecar) throws -> UploadState {
    try sidecar.seal == nil ? loadUploadState(beside: sidecar) ?? UploadState() : UploadState()
  }
}

extension UploadState {
  /// Lets the epochs count again that a redaction was to replace, if it began a generation beyond another.
  ///
  /// - Returns: whether one had begun.
  @discardableResult
  package mutating func withdrawRedaction(beyond generation: Int) -> Bool {
    guard let replaced, self.generation ?? 1 > generation else { return false }
    redaction = replaced.isEmpty ? nil : replaced
    self.generation = generation == 1 ? nil : generation
    self.replaced = nil
    return true
  }
}

/// Combines the state and the sidecar; for a sealed session the sidecar alone counts.
extension UploadState {
  /// The epochs; nil if none are known.
  package func redaction(_ sidecar: Sidecar) -> [Sidecar.RedactionEpoch]? {
    sidecar.seal == nil ? redaction ?? sidecar.redaction : sidecar.redaction
  }

  /// The generation of the local log; for an attached session it is in the sidecar.
  package func generation(_ sidecar: Sidecar) -> Int {
    let recorded = sidecar.source == nil && sidecar.seal == nil ? generation : nil
    return recorded ?? sidecar.generation ?? 1
  }

  /// The consent that the store's newest revision states; without one, that at the session's start.
  package func consent(_ sidecar: Sidecar) -> Consent {
    (sidecar.seal == nil ? consent : nil) ?? sidecar.consent ?? .logs
  }
}
