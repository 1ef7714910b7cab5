import LogRecords
import Platform
import Replica
@testable import SessionLog
@testable import Sync
import TestSupport
import Testing

/// The order of a session's upload, as a table: without a store.
@Suite(.tags(.medium)) struct UploadStepTests {
  private func state(
    _ change: (inout SessionState) -> Void = { _ in }
  ) throws -> SessionState {
    let id = try #require(SessionID("20260122t143005z-k3f9a7c2"))
    let home = try TestHome()
    let sidecar = Sidecar(
      id: id, device: home.device, appName: "app", recorder: nil,
      startedAt: Timestamp(milliseconds: 0))
    var state = SessionState(
      local: LocalSession(home.home, id), sidecar: sidecar,
      modified: sidecar.startedAt)
    state.isInManifest = true
    state.isEntryTrusted = true
    state.entry.revision = 1
    state.entry.sent = 10
    state.length = 20
    state.end = 20
    state.done = [.compare, .bindRules]
    change(&state)
    return state
  }

  private static let ended = SessionLog.Verdict(
    status: .crashed, cause: nil, endedAt: Timestamp(milliseconds: 0))

  private func expect(
    _ step: UploadStep, _ change: (inout SessionState) -> Void = { _ in },
    at location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(UploadStep.next(try state(change)) == step, sourceLocation: location)
  }

  @Test func `a session that continues`() throws {
    try expect(.wait(.withdrawn)) { ($0.wait, $0.isEntryTrusted) = (.withdrawn, false) }
    try expect(.list) { ($0.isEntryTrusted, $0.done) = (false, []) }
    try expect(.compare) { $0.done = [] }
    try expect(.bindRules) { $0.done = [.compare] }
    try expect(.measure) { $0.end = nil }
    try expect(.announce) { $0.entry.revision = 0 }
    try expect(.announce) { $0.uploadState.consent = .metadata }
    try expect(.announce) { $0.isQuiet = true }
    try expect(.settleMasks) { $0.isIdle = true }
    try expect(.sendTail) {
      $0.isIdle = true
      $0.done.insert(.settleMasks)
    }
    try expect(.rewrite) { $0.uploadState.generation = 2 }
    try expect(.sendTail)
    try expect(.rest) { $0.entry.sent = 20 }
    try expect(.removeCovered) { ($0.entry.sent, $0.hasCovered) = (20, true) }
    try expect(.rest) {
      ($0.entry.sent, $0.hasCovered) = (20, true)
      $0.done.insert(.removeCovered)
    }
    try expect(.done) { $0.done.insert(.rest) }
  }

  @Test func `a session that a pass had no more time for`() throws {
    func isCut(_ state: inout SessionState) { state.isCutShort = true }
    try expect(.rest, isCut)
    try expect(.rest) {
      isCut(&$0)
      $0.uploadState.generation = 2
    }
    // It is not sealed before a later pass has sent the rest.
    try expect(.rest) {
      isCut(&$0)
      $0.verdict = Self.ended
    }
    try expect(.announce) {
      isCut(&$0)
      ($0.verdict, $0.entry.revision) = (Self.ended, 0)
    }
    try expect(.cover) {
      isCut(&$0)
      ($0.verdict, $0.entry.sent) = (Self.ended, 20)
    }
  }

  @Test func `a session that has ended`() throws {
    // It is not announced first, and the steps lead to its seal.
    try expect(.sendTail) { ($0.verdict, $0.entry.revision) = (Self.ended, 0) }
    try expect(.rewrite) { ($0.verdict, $0.uploadState.generation) = (Self.ended, 2) }
    try expect(.cover) { ($0.verdict, $0.entry.sent) = (Self.ended, 20) }
    try expect(.seal) {
      ($0.verdict, $0.entry.sent) = (Self.ended, 20)
      $0.done.insert(.cover)
    }
    // Never sealed before every byte was sent.
    try expect(.sendTail) {
      $0.verdict = Self.ended
      $0.done.insert(.cover)
    }
    try expect(.done) {
      $0.verdict = Self.ended
      $0.done.insert(.seal)
    }
  }

  @Test func `a session whose log stays`() throws {
    func stays(_ state: inout SessionState) { (state.consent, state.end) = (.metadata, nil) }
    try expect(.list) {
      stays(&$0)
      $0.isEntryTrusted = false
    }
    try expect(.metadata, stays)
    try expect(.metadata) {
      stays(&$0)
      ($0.uploadState.consent, $0.entry.revision) = (.metadata, 0)
    }
    try expect(.rest) {
      stays(&$0)
      $0.uploadState.consent = .metadata
    }
    try expect(.sealMetadata) {
      stays(&$0)
      $0.verdict = Self.ended
    }
    try expect(.done) {
      stays(&$0)
      $0.done = [.sealMetadata]
    }
  }
}
