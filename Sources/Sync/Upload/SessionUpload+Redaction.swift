import Replica
import SessionLog

/// Which rules bind which bytes of a session.
extension SessionUpload {
  /// The log as it leaves this machine by given epochs.
  func view(_ log: LocalStream, by epochs: [Sidecar.RedactionEpoch]) throws -> LocalStream {
    try log.redacted(by: context.redaction.stretches(epochs), sidecar.format)
  }

  /// The log by the rules that bind what was sent, and by the configured ones from there on.
  ///
  /// Whoever is to find them again later is told before the first byte is sent by them.
  func bound(_ log: LocalStream, _ entry: inout ManifestEntry) async throws -> LocalStream {
    let known = log.redaction ?? []
    let isCurrent = try entry.generation == wantedGeneration()
    let epochs = isCurrent ? continued(known, from: entry.sent) : continued([], from: 0)
    // What is sealed in this pass says so in its sidecar.
    let needsNote = item.verdict == nil || entry.sent > 0
    if needsNote, try epochs != local.redaction(sidecar) {
      try context.redaction.keepCurrent()
      try local.note(epochs, generation: local.sentNote()?.generation)
    }
    guard epochs != known else { return log }
    try context.redaction.keepCurrent()
    if isCurrent, entry.revision > 0 {
      var sidecar = sidecar
      sidecar.redaction = epochs
      try await putRevision(sidecar, length: entry.sent, &entry)
    }
    return try view(log, by: epochs)
  }

  /// Epochs with the configured rules from an offset on.
  private func continued(
    _ epochs: [Sidecar.RedactionEpoch], from sent: StreamOffset
  ) -> [Sidecar.RedactionEpoch] {
    let version = context.redaction.version
    if epochs.last?.rules == version { return epochs }
    let begun = epochs.filter { $0.from < sent }
    if begun.last?.rules == version { return begun }
    return begun + [Sidecar.RedactionEpoch(from: sent, rules: version)]
  }

  /// Finds the rules by which a session was sent that are noted nowhere: those that make the local
  /// bytes what the names of the remote segments say.
  ///
  /// - Returns: the log by these rules; as it is where none do.
  func recovered(_ log: LocalStream, _ remote: RemoteSession) throws -> LocalStream {
    let here = try log.available()
    let segments = remote.segments(of: remote.generation).filter {
      here.lowerBound <= $0.range.lowerBound && $0.range.upperBound <= here.upperBound
    }
    for version in try context.redaction.versions() {
      guard (try? context.redaction.redactor(version)) != nil else { continue }
      let view = try view(log, by: [Sidecar.RedactionEpoch(from: 0, rules: version)])
      if try segments.allSatisfy({ try $0.matches(view) }) { return view }
    }
    return log
  }
}
