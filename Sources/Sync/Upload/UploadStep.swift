import Platform
import Replica
import SessionLog

/// What a pass does next with one session.
///
/// The order makes every instant a safe one to die at: the manifest says "dirty" before the first
/// request, a segment counts when its PUT was answered, the seal is put when every byte it names is
/// proven, and the local mark comes last.
enum UploadStep: Hashable {
  /// Leave the session to a later pass.
  case wait(WaitReason)
  /// Read off a listing how far the remote copy has come.
  case list
  /// Make sure that the local log is what was sent.
  case compare
  /// Find the rules that bind what is sent, and note them before the first byte is sent by them.
  case bindRules
  /// Find up to where the log can be sent.
  case measure
  /// Put the first revision of a session that goes on, one that takes back that its log stays, or,
  /// after long quiet, one that shows that it still goes on.
  case announce
  /// Send the log as the next generation.
  case rewrite
  /// Let the masks of an idle log's last bytes stay what they are, whatever comes after them.
  case settleMasks
  /// Send what the store lacks of the log.
  case sendTail
  /// Delete small segments that the pass before has covered.
  case removeCovered
  /// Put the final objects that take the place of small segments.
  case cover
  /// Prove every byte, put the seal, and mark it here.
  case seal
  /// Put the revision of a session whose log stays and that goes on.
  case metadata
  /// Put the last revision of a session whose log stays, and mark it here.
  case sealMetadata
  /// Save what is known, and leave the session until it grows.
  case rest
  /// Nothing more.
  case done

  /// The step that follows from what is known of a session.
  static func next(_ state: SessionState) -> UploadStep {
    if let reason = state.wait { return .wait(reason) }
    if state.did(.seal) || state.did(.sealMetadata) || state.did(.rest) { return .done }
    if !state.isEntryTrusted { return .list }
    let hasEnded = state.verdict != nil
    if state.consent == .metadata {
      if hasEnded { return .sealMetadata }
      let isDue = state.entry.revision == 0 || state.isQuiet || state.note.consent != .metadata
      return isDue ? .metadata : .rest
    }
    if !state.did(.compare) { return .compare }
    if !state.did(.bindRules) { return .bindRules }
    guard let end = state.end else { return .measure }
    if !hasEnded, state.entry.revision == 0 || state.isQuiet || state.saidConsent == .metadata {
      return .announce
    }
    if !state.isOfThisGeneration { return .rewrite }
    if state.entry.sent < end {
      let isCut = !hasEnded && state.isIdle && end == state.length
      return isCut && !state.did(.settleMasks) ? .settleMasks : .sendTail
    }
    if hasEnded { return state.did(.cover) ? .seal : .cover }
    return state.hasCovered && !state.did(.removeCovered) ? .removeCovered : .rest
  }
}

extension SessionState {
  /// Whether the pass has done a step.
  func did(_ step: UploadStep) -> Bool { done.contains(step) }
}
