import Platform
import Replica
import SessionLog

/// Files that were taken for gone: what has been out of sight, or was brought back, is not sent again.
extension AttachObservation {
  /// For so long a file that is gone may come back after its session has left this machine.
  private static let memory = Duration.days(7)

  /// Finds files again that were gone among those that nobody knows.
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

  /// The file that has come back as a candidate.
  ///
  /// What was written since it was gone is another file, however alike: a job may log the same each
  /// day.
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
        // Where only the head is known, the length has to be the same.
        if file.link == nil, (try? content.reaches(beyond: file.seen)) != false { return false }
        return (try? content.reaches(beyond: file.seen - 1)) == true
          && (try? content.continues(file)) == true
      }
  }

  /// Forgets files that are gone for good: their session is no longer on this machine either.
  mutating func forgetGone() throws {
    let now = FileTime(context.now())
    for file in try files.gone() where now - file.changed >= Self.memory {
      guard try FileStatus(context.home.files(for: file.session).sidecar) == nil else { continue }
      add(.forget(file))
    }
  }
}
