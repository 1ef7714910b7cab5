import Platform
import Replica
import SessionLog

/// Recognizes files believed gone, so that a file restored or out of sight for a while is not sent
/// again.
extension AttachObservation {
  /// How long a missing file can be recognized after its session has left this machine.
  private static let memory = Duration.days(7)

  /// Matches files believed gone with unknown ones.
  mutating func matchGone() throws {
    guard !fresh.isEmpty else { return }
    let gone = try files.gone()
    guard !gone.isEmpty else { return }
    var left: [AttachCandidate] = []
    for candidate in fresh {
      if candidate.base == 0, let file = returned(candidate, among: gone) {
        try followOrReport(file, to: candidate)
      } else {
        left.append(candidate)
      }
    }
    fresh = left
  }

  /// The missing file that has come back as a candidate.
  ///
  /// Content written after the loss makes it another file, even if similar: a job may log the same
  /// lines each day.
  private func returned(
    _ candidate: AttachCandidate, among gone: [AttachedFile]
  ) -> AttachedFile? {
    let possible = gone.filter {
      candidate.status.modified < $0.changed - Self.margin && $0.mayBe(at: candidate.path)
    }
    guard !possible.isEmpty, let content = try? FileContent(candidate.path),
      let head = try? content.head()
    else { return nil }
    return possible.filter { $0.source.isHead(head) }.sorted { $0.seen > $1.seen }
      .first { file in
        // If only the head is known, the length must match too.
        if file.link == nil, (try? content.reaches(beyond: file.seen)) != false { return false }
        return (try? content.reaches(beyond: file.seen - 1)) == true
          && (try? content.continues(file)) == true && (try? holdsSent(file, content)) == true
      }
  }

  /// Whether content is not known to differ from what was sent of a file; once its session has left
  /// this machine, first and last bytes have to do.
  private func holdsSent(_ file: AttachedFile, _ content: FileContent) throws -> Bool {
    guard !file.isCompressed else { return true }
    return try SentBytes(file.session, context)?.areUnpackedIn(content, before: file.seen) ?? true
  }

  /// Forgets missing files whose session has left this machine as well.
  mutating func forgetGone() throws {
    let now = FileTime(context.now())
    for file in try files.gone() where now - file.changed >= Self.memory {
      guard try FileStatus(context.home.files(for: file.session).sidecar) == nil else { continue }
      add(.forget(file))
    }
  }
}
