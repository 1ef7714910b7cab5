import Platform
import SessionLog

/// What became of attached files since the last pass, as changes to sessions.
package struct AttachPlan: Sendable {
  /// A session that begins with a file.
  struct Beginning: Sendable {
    let source: LogSource
    let path: String
    let status: FileStatus
    /// Offset in the file of the session's first byte.
    var base: Int64 = 0
    /// The session that had ended when these bytes came.
    var continues: SessionID?
    /// The session whose place in the cache it takes.
    var replaces: SessionID?
    /// Whether it ends here and now.
    var end: ExitCause.FileEnd?
  }

  /// What the file of an ended session does not have, and the home's log gets.
  enum Rest: Sendable {
    /// A line that says what is missing; nil where nothing is.
    case gap(String?)
    /// The whole stream, out of the file's compressed form.
    case unpacked(path: String, status: FileStatus)
  }

  /// One change.
  enum Change: Sendable {
    /// A new session.
    case begin(Beginning)
    /// There is more to send.
    case grow(AttachedFile)
    /// The file has another name, or is elsewhere.
    case move(AttachedFile)
    /// It has grown after its session had ended and before that was sealed: it goes on.
    case reopen(AttachedFile)
    /// Bytes that were sent already have changed: it goes on as a new generation.
    case rewrite(AttachedFile)
    /// The session is over.
    case end(AttachedFile, ExitCause.FileEnd, Rest?)
    /// Only the cache has to know.
    case note(AttachedFile)
    /// The file of an ended session is gone.
    case lose(AttachedFile)
    /// Nothing can have the content of a file any more that is gone.
    case forget(AttachedFile)

    /// The session that is changed; nil for one that is to begin.
    var session: SessionID? {
      switch self {
      case .begin: nil
      case .grow(let file), .move(let file), .reopen(let file), .rewrite(let file),
        .end(let file, _, _), .note(let file), .lose(let file), .forget(let file):
        file.session
      }
    }

    /// Where the file is; nil where nothing was renamed.
    var path: String? {
      switch self {
      case .begin(let new): new.path
      case .move(let file), .reopen(let file), .rewrite(let file), .end(let file, _, _),
        .note(let file), .lose(let file), .forget(let file):
        file.source.path
      case .grow: nil
      }
    }

    /// The session whose file is taken for gone; nil for other changes.
    var loss: SessionID? {
      switch self {
      case .lose(let file), .end(let file, _, .gap): file.session
      default: nil
      }
    }
  }

  var changes: [Change] = []
  /// What could not be read, with the reason, by path.
  var problems: [String: String] = [:]
  var pass = AttachedFiles.Pass()

  /// Nothing to do.
  package init() {}

  /// The changes in words, for a person; without those that only the cache has to know.
  package var descriptions: [String] {
    changes.compactMap { change in
      switch change {
      case .begin(let new): "attach \(new.path)"
      case .grow(let file), .reopen(let file): "read on \(file.source.path) as \(file.session)"
      case .move(let file): "follow \(file.session) to \(file.source.path)"
      case .rewrite(let file): "re-send \(file.session): \(file.source.path) was rewritten"
      case .end(let file, let end, _): "end \(file.session): \(file.source.path) is \(end.rawValue)"
      case .note, .lose, .forget: nil
      }
    }
  }
}
