import Platform
import Redaction
import Replica
import SessionLog

/// Decides which rules bind which bytes of a session.
struct RuleBinding {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// Binds the sent part of the log to the rules it was sent under, and the rest to the configured
  /// ones.
  ///
  /// They are recorded before the first byte is sent under them, so that a later pass finds them.
  func bind(_ state: inout SessionState) async throws {
    let known = try state.requireView().redaction ?? []
    let isCurrent = state.isOfThisGeneration
    let epochs = isCurrent ? try continued(known, state) : [epoch(from: .zero)]
    // A session that one object holds states them in the sidecar of its seal. One with a hole is not
    // sealed by this pass.
    let isOneObject =
      try state.verdict != nil && !state.hasSent && state.redaction == nil
      && state.requireView().available().lowerBound == 0
      && state.length.byteCount <= ByteCount(context.objectLimit.frameLength)
    if !isOneObject, epochs != state.redaction {
      try context.redaction.keepCurrent()
      try state.record(epochs, generation: state.uploadState.generation)
    }
    guard epochs != known else { return }
    try context.redaction.keepCurrent()
    if isCurrent, state.entry.revision > 0 {
      var sidecar = state.sidecar
      sidecar.redaction = epochs
      try await writer.putRevision(sidecar, &state)
    }
    try state.bind(epochs, context)
  }

  /// The epoch of the configured rules.
  private func epoch(from offset: StreamOffset) -> Sidecar.RedactionEpoch {
    Sidecar.RedactionEpoch(from: offset, rules: context.redaction.version)
  }

  /// Epochs that switch to the configured rules where the sent part of the log ends.
  private func continued(
    _ epochs: [Sidecar.RedactionEpoch], _ state: SessionState
  ) throws -> [Sidecar.RedactionEpoch] {
    // What follows a hole may have been sent, too; what fills it is bound by the same rules.
    let segments = writer.remote(state).segments(of: state.entry.generation)
    let sent = segments.map(\.range.upperBound).reduce(state.entry.sent, max)
    let version = context.redaction.version
    if epochs.last?.rules == version { return epochs }
    let begun = epochs.filter { $0.from < sent }
    // Where none are known, what fills a hole is not sent as it is.
    guard let last = begun.last else {
      return [epoch(from: epochs.isEmpty ? state.entry.sent : sent)]
    }
    if last.rules == version { return begun }
    // There the masks of the idle log were fixed.
    let isFixed = epochs.contains { $0.from == sent && $0.rules == last.rules }
    return begun + [epoch(from: isFixed ? sent : try boundary(after: sent, of: last.rules, state))]
  }

  /// An offset, not before the end of what was sent, at which the rules that bind it may end.
  ///
  /// A pass that was killed may have sent a segment that ends inside a secret. What its rules made of
  /// the beginning they decided by what follows, so they bind the secret's end, too.
  private func boundary(
    after sent: StreamOffset, of rules: String, _ state: SessionState
  ) throws -> StreamOffset {
    guard let redactor = try context.redaction.redactor(rules) else { return sent }
    let (log, format) = (try state.requireView(), state.sidecar.format)
    func isBoundary(_ offset: StreamOffset) throws -> Bool {
      try log.settledEnd(offset, by: redactor, format) == offset
    }
    if try isBoundary(sent) { return sent }
    let length = try log.available().upperBound
    var reach = ByteCount(Redactor.context)
    while true {
      let isLast = length - sent <= reach
      let end = try state.local.recordEnd(
        of: log, upTo: isLast ? length : sent + reach, sent: sent, format: format, by: redactor
      ).offset
      if try end > sent && isBoundary(end) { return end }
      if isLast { return max(sent, length) }
      reach = reach * 2
    }
  }

  /// Fixes the masks of the bytes up to the sendable end, so that later bytes cannot change them.
  ///
  /// Where they could still change, an epoch of the same rules begins at that end. It is recorded
  /// before the first byte it binds is sent.
  func settle(_ state: inout SessionState) async throws {
    guard let end = state.end else { return }
    let log = try state.requireView()
    let epochs = log.redaction ?? []
    let rules = context.redaction.current
    guard epochs.last.map({ $0.from < end }) ?? true,
      try log.settledEnd(end, by: rules, state.sidecar.format) < end
    else { return }
    let next = epochs + [Sidecar.RedactionEpoch(from: end, rules: context.redaction.version)]
    try state.record(next, generation: state.uploadState.generation)
    var sidecar = state.sidecar
    sidecar.redaction = next
    try await writer.putRevision(sidecar, &state)
    try state.bind(next, context)
  }

  /// Binds unrecorded rules under which a session was sent; if none are found, the log stays as it is.
  func recover(_ state: inout SessionState, _ segments: [SegmentName]) throws {
    guard let log = state.log,
      let epoch = try context.redaction.epoch(of: log, state.sidecar.format, sentAs: segments)
    else { return }
    try state.bind([epoch], context)
  }
}
