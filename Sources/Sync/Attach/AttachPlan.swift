package import Platform
import SessionLog

/// Changes to sessions since the last pass over attached files.
package struct AttachPlan: Sendable {
  /// A session to begin with a file.
  struct Beginning: Sendable {
    let source: LogSource
    let path: String
    let status: FileStatus
    /// Offset in the file of the session's first byte.
    var base: Int64 = 0
    /// The ended session that these bytes continue.
    var continues: SessionID?
    /// The session whose cache row this one replaces.
    var replaces: SessionID?
    /// The cause to end it at once; nil to let it grow.
    var end: ExitCause.FileEnd?
    /// Whether a link leads to the file.
    var isLinked = false
  }

  /// Content of an ended session that the home's log must supply, because the file lacks it.
  enum Rest: Sendable {
    /// A line that reports missing bytes; nil if none are.
    case gap(LossLine?)
    /// The whole stream, unpacked from the compressed file.
    case unpacked(path: String, status: FileStatus)
    /// The whole stream, which the home's log has already: a pass died after it had unpacked it.
    case kept
  }

  /// One change.
  enum Change: Sendable {
    /// A new session.
    case begin(Beginning)
    /// The file has grown.
    case grow(AttachedFile)
    /// The file was renamed or moved.
    case move(AttachedFile)
    /// The file grew after its session ended but before the seal: the session continues.
    case reopen(AttachedFile)
    /// Already sent bytes have changed: the session continues as a new generation.
    case rewrite(AttachedFile)
    /// The session ends.
    case end(AttachedFile, ExitCause.FileEnd, Rest?)
    /// Only the cache is updated.
    case save(AttachedFile)
    /// The file of an ended session is gone.
    case gone(AttachedFile)
    /// A file is gone and its content can no longer reappear.
    case forget(AttachedFile)

    /// The session to change or to replace; nil for a new one without a predecessor in the cache.
    var session: SessionID? {
      switch self {
      case .begin(let new): new.replaces
      case .grow(let file), .move(let file), .reopen(let file), .rewrite(let file),
        .end(let file, _, _), .save(let file), .gone(let file), .forget(let file):
        file.session
      }
    }

    /// The file's new path; nil without a rename.
    var path: String? {
      switch self {
      case .begin(let new): new.path
      case .move(let file), .reopen(let file), .rewrite(let file), .end(let file, _, _),
        .save(let file), .gone(let file), .forget(let file):
        file.source.path
      case .grow: nil
      }
    }

    /// The folder of the file's new path; nil without a rename.
    var folder: String? { path.map(AttachedFile.folder) }

    /// The owner of the file; root if it is unknown.
    var owner: UInt32 {
      switch self {
      case .begin(let new): new.status.owner
      case .grow(let file), .move(let file), .reopen(let file), .rewrite(let file),
        .end(let file, _, _), .save(let file), .gone(let file), .forget(let file):
        file.source.owner ?? 0
      }
    }

    /// The file that appears to be gone; nil for other changes.
    var loss: AttachedFile? {
      switch self {
      case .gone(let file), .end(let file, _, .gap): file
      default: nil
      }
    }
  }

  var changes: [Change] = []
  /// Paths that could not be read, or that the next pass has to examine again.
  var problems: [String: AttachProblem] = [:]
  /// Files that could not be read, and for which sessions wait.
  var awaited: Set<AwaitedFile> = []
  /// Sessions to whose file a link leads.
  var linked: Set<SessionID> = []
  var pass = AttachedFiles.Pass()

  /// An empty plan.
  package init() {}

  /// Log bytes that changes add to sessions, besides those that are waiting already.
  package struct Growth: Sendable {
    /// The log bytes.
    package var bytes: ByteCount = 0
    /// Number of sessions, new ones included.
    package var sessions = 0
    /// Files and folders that cannot be read, with the reason and the unread bytes as far as known.
    package var unreadable: [(text: String, bytes: ByteCount)] = []

    /// No growth.
    package init() {}
  }

  /// The sessions and bytes that the changes add.
  ///
  /// A compressed file counts with its compressed size: its content is unknown until it is
  /// unpacked.
  ///
  /// - Parameters:
  ///   - failed: paths that could not be read at the last attempt, with the reason.
  ///   - known: the log bytes of a session that are known; nil if it has to be sent again.
  func growth(
    failing failed: [String: String] = [:], beyond known: (SessionID) throws -> StreamOffset?
  ) rethrows -> Growth {
    var growth = Growth()
    for change in changes {
      let bytes: ByteCount
      switch change {
      case .begin(let new): bytes = ByteCount(new.status.length - new.base)
      case .grow(let file), .reopen(let file), .move(let file), .rewrite(let file),
        .end(let file, _, _):
        bytes = file.source.offset(of: file.seen) - (try known(file.session) ?? .zero)
      case .save, .gone, .forget: continue
      }
      guard bytes > 0 else { continue }
      if let path = change.path, let reason = failed[path] {
        growth.unreadable.append(("\(path): \(reason)", bytes))
        continue
      }
      growth.bytes += bytes
      growth.sessions += 1
    }
    return growth
  }

  /// The changes as text, without those to the cache alone.
  package var descriptions: [String] {
    changes.compactMap { change in
      switch change {
      case .begin(let new):
        "attach \(new.path) (\(ByteCount(max(0, new.status.length - new.base)).text))"
      case .grow(let file), .reopen(let file): "continue \(file.session) with \(file.source.path)"
      case .move(let file): "follow \(file.session) to \(file.source.path)"
      case .rewrite(let file): "re-send \(file.session): \(file.source.path) was rewritten"
      case .end(let file, let end, _): "end \(file.session): \(file.source.path) is \(end.rawValue)"
      case .save, .gone, .forget: nil
      }
    }
  }
}
