import Delta
import Platform
import Replica
import SessionLog

/// What the manifest keeps of a session that is not yet sealed.
struct ManifestEntry: Equatable {
  /// The generation of the stream that the remote holds.
  var generation = 1
  /// Its offset up to which everything has been sent.
  package var sent: StreamOffset = 0
  /// Stream offset up to which small segments have been looked at and covered.
  var merged: StreamOffset = 0
  /// Stream offset up to which the cache has the signature of what was sent.
  var signed: StreamOffset = 0
  /// Fingerprint of the stream before ``sent``, to notice a log that is not the one remembered.
  var link = Link.start
  /// Number of the newest sidecar revision sent; 0 before the first.
  var revision = 0
  /// Boot in which the folder was last listed; another one means a look before anything is sent.
  var boot: String
  /// A request was begun and its end is not known here: look before deciding.
  var isDirty = false
  /// Whether it is kept as it becomes known.
  ///
  /// Where it is not, the database has nothing of the session, and whoever comes next has to look as
  /// if it were dirty.
  var isKept = true
  /// Whether a listing of this pass showed objects that were cut on their way and count for nothing.
  var hasCutObjects = false
  /// Failed attempts since the last success.
  var attempts = 0
  /// What the last one failed with.
  var lastError: String?
  /// Whether that is likely to go away by itself.
  var isPassing = false
  /// Not before this time again; nil when it may be tried at once.
  var nextAttempt: Timestamp?
  /// The proof that a pass found the session to be its user's; see ``SessionOwnership``.
  var owner: [UInt8]?
  /// Segments known to be there, and whether the store proved each one's content when it was put.
  var segments: [SegmentName: Bool] = [:] {
    didSet {
      for (name, proven) in segments where oldValue[name] != proven { unsaved.insert(name) }
      if segments.count <= oldValue.count {
        for name in oldValue.keys where segments[name] == nil { unsaved.insert(name) }
      }
    }
  }
  /// Those of ``segments`` that this home has put, or has found to hold what its log does: only they
  /// may ever be deleted for a larger one.
  var own: Set<SegmentName> = []
  /// Those of ``segments``, and those no longer among them, that the database does not know so.
  var unsaved: Set<SegmentName> = []

  init(boot: String, segments: [SegmentName: Bool] = [:]) {
    self.boot = boot
    self.segments = segments
  }

  /// Notes that this home has put a segment, or found it to hold what its log does.
  mutating func own(_ name: SegmentName) {
    if own.insert(name).inserted { unsaved.insert(name) }
  }

  /// Whether anything was put; a pass that failed may have left no more than its failure.
  var hasBegun: Bool { revision > 0 || sent > 0 || !segments.isEmpty }

  /// Whether the seal, which is not noted here, makes no object superfluous.
  var hasOnlyFinalObjects: Bool {
    let ends = segments.keys.sorted { $0.range.lowerBound < $1.range.lowerBound }
    return revision == 0 && !hasCutObjects
      && zip(ends, ends.dropFirst()).allSatisfy {
        $0.range.upperBound == $1.range.lowerBound
      }
  }
}
