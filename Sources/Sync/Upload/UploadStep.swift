import Platform
import Replica
import SessionLog

/// The next step of a pass for one session.
///
/// The order makes it safe to die at any moment: the manifest says "dirty" before the first
/// request, a segment counts once its PUT was answered, the seal is put once every byte it names is
/// proven, a hold follows it, and the local record is last.
enum UploadStep: Hashable {
  /// Leave the session to a later pass.
  case wait(WaitReason)
  /// List how far the remote copy has come.
  case list
  /// Record a seal that the store has, and this home does not know, if the local log is its
  /// beginning.
  case adoptSeal
  /// Compare the local log with the sent stream.
  case compare
  /// Determine the rules that bind the bytes to send, and record them before the first byte is
  /// sent.
  case bindRules
  /// Determine up to which offset the log can be sent.
  case measure
  /// Put a revision of an open session: the first, one that withdraws a metadata-only consent or,
  /// after a long quiet time or another writer's seal, one that shows it is still alive. Also the
  /// first of an ended session whose rest is left to later passes.
  case announce
  /// Send the log as the next generation.
  case rewrite
  /// Fix the masks of an idle log's last bytes, so that later bytes cannot change them.
  case settleMasks
  /// Send the part of the log that the store lacks.
  case sendTail
  /// Delete small segments that the previous pass covered.
  case removeCovered
  /// Put the final objects that replace small segments.
  case cover
  /// Prove every byte, put the seal, and record it here.
  case seal
  /// Put the revision of an open session whose log is not sent.
  case metadata
  /// Put the last revision of a session whose log is not sent, and record it here.
  case sealMetadata
  /// Save the entry, and leave the session until it grows.
  case rest
  /// Nothing is left to do.
  case done

  /// The next step for a session in a given state.
  static func next(_ state: SessionState) -> UploadStep {
    if let reason = state.wait { return .wait(reason) }
    if state.did(.seal) || state.did(.sealMetadata) || state.did(.rest) { return .done }
    if !state.isEntryTrusted { return .list }
    let hasEnded = state.verdict != nil
    if state.consent == .metadata {
      if hasEnded { return .sealMetadata }
      let isDue =
        state.entry.revision == 0 || state.isQuiet || state.uploadState.consent != .metadata
      return isDue ? .metadata : .rest
    }
    if state.unknownSeal != nil { return state.did(.adoptSeal) ? .done : .adoptSeal }
    if !state.did(.compare) { return .compare }
    if !state.did(.bindRules) { return .bindRules }
    guard let end = state.end else { return .measure }
    if !hasEnded, state.entry.revision == 0 || state.isQuiet || state.saidConsent == .metadata {
      return .announce
    }
    if !state.isOfThisGeneration { return state.isCutShort ? .rest : .rewrite }
    if state.entry.sent < end {
      // Readers shall know whose bytes they are until the rest is there.
      if state.isCutShort { return state.entry.revision == 0 ? .announce : .rest }
      let isCut = !hasEnded && state.isIdle && end == state.length
      return isCut && !state.did(.settleMasks) ? .settleMasks : .sendTail
    }
    if hasEnded { return state.did(.cover) ? .seal : .cover }
    return state.hasCovered && !state.did(.removeCovered) ? .removeCovered : .rest
  }
}

/// Steps that a pass has done for one session: a dozen at most, so they are searched in order.
struct UploadSteps: Equatable, ExpressibleByArrayLiteral {
  private var steps: [UploadStep] = []

  init(arrayLiteral steps: UploadStep...) { self.steps = steps }

  func contains(_ step: UploadStep) -> Bool { steps.contains(step) }

  mutating func insert(_ step: UploadStep) {
    if !steps.contains(step) { steps.append(step) }
  }
}

extension SessionState {
  /// Whether to put another segment; if not, records that the rest is left to later passes.
  ///
  /// At least one is put in each pass, so that it gets further, and more while there is time.
  mutating func sendsMore(within budget: PassBudget) -> Bool {
    if sentInPass == 0 || !budget.isSpent { return true }
    isCutShort = true
    return false
  }

  /// Whether the pass has done a step.
  func did(_ step: UploadStep) -> Bool { done.contains(step) }
}
