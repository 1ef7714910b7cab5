import Delta
import Platform
import Replica
import SessionLog

/// The manifest's entry of a session that is not yet sealed.
struct UploadCheckpoint: Equatable {
  /// The generation of the stream that the remote holds.
  var generation = 1
  /// Stream offset up to which everything has been sent.
  package var sent: StreamOffset = 0
  /// Stream offset up to which small segments have been merged.
  var merged: StreamOffset = 0
  /// Stream offset up to which the cached signature covers the sent stream.
  var signed: StreamOffset = 0
  /// Fingerprint of the stream before ``sent``, to detect a log that is not the remembered one.
  var link = Link.start
  /// Number of the newest sidecar revision sent; 0 before the first.
  var revision = 0
  /// Boot in which the folder was last listed; in another boot it is listed before anything is
  /// sent.
  var boot: String
  /// Whether a request was begun whose result is unknown: the folder must be listed first.
  var isDirty = false
  /// Whether changes are saved as they happen.
  ///
  /// If not, the database has no entry, and the next pass must list the folder as if the entry were
  /// dirty.
  var isKept = true
  /// Whether a listing of this pass showed truncated objects, which do not count.
  var hasCutObjects = false
  /// Failed attempts since the last success.
  var attempts = 0
  /// The last failure.
  var lastError: String?
  /// Whether the last failure is likely to be transient.
  var isTransient = false
  /// The earliest time of the next attempt; nil for at once.
  var nextAttempt: Timestamp?
  /// Proof by an earlier pass that the session is its user's; see ``SessionOwnership``.
  var owner: [UInt8]?
  /// Segments in the store, and whether the store proved each one's content when it was put.
  var segments: [SegmentName: Bool] = [:] {
    didSet {
      for (name, proven) in segments where oldValue[name] != proven { unsaved.insert(name) }
      if segments.count <= oldValue.count {
        for name in oldValue.keys where segments[name] == nil { unsaved.insert(name) }
      }
    }
  }
  /// Segments in ``segments`` that this home put, or found equal to its log: only these may ever be
  /// deleted in favour of a larger one.
  var own: Set<SegmentName> = []
  /// Segments of requests that were begun and whose result is unknown.
  private(set) var intended: Set<SegmentName> = []
  /// Revisions that this home put, or began to put, by name: seldom more than two.
  private(set) var revisions: [RevisionName] = []
  /// Revisions added since the database was written.
  private(set) var unsavedRevisions: [RevisionName] = []
  /// Hashes of the indexes of segments that this home made, in lower-case hex; a seal names them.
  private(set) var indexes: [SegmentName: String] = [:]
  /// Segments whose hash was added since the database was written.
  private(set) var unsavedIndexes: Set<SegmentName> = []
  /// Segments added, changed or removed since the database was written.
  var unsaved: Set<SegmentName> = []
  /// Intentions added or settled since then.
  private(set) var unsavedIntentions: Set<SegmentName> = []

  init(
    boot: String, segments: [SegmentName: Bool] = [:], intended: Set<SegmentName> = [],
    revisions: [RevisionName] = [], indexes: [SegmentName: String] = [:]
  ) {
    self.boot = boot
    self.segments = segments
    self.intended = intended
    self.revisions = Self.sorted(revisions)
    self.indexes = indexes
  }

  /// Records that this home puts a segment; to be saved before the request.
  ///
  /// - Parameters:
  ///   - name: its name.
  ///   - index: the hash of its index.
  mutating func intend(_ name: SegmentName, index: String) {
    if intended.insert(name).inserted { unsavedIntentions.insert(name) }
    if indexes.updateValue(index, forKey: name) != index { unsavedIndexes.insert(name) }
  }

  /// Records that this home puts a revision; to be saved before the request.
  mutating func intend(_ name: RevisionName) {
    guard !revisions.contains(name) else { return }
    revisions = Self.sorted(revisions + [name])
    unsavedRevisions.append(name)
  }

  private static func sorted(_ revisions: [RevisionName]) -> [RevisionName] {
    revisions.count < 2 ? revisions : revisions.sorted { $0.fileName < $1.fileName }
  }

  /// The fingerprint of an attached file before the end of what was sent, if redaction left that
  /// unchanged; nil if it is unknown.
  func link(in source: Sidecar.Source) -> Link? {
    // The file's bytes before the stream's start are not in the stream's link.
    sent > 0 && (source.base == 0 || link.covered == Link.span) ? link : nil
  }

  /// Whether a revision named its generation, and that request was answered.
  var hasNamedGeneration: Bool {
    revisions.contains { $0.number <= revision && $0.generation == generation }
  }

  /// File names of the objects that a listing should show, as far as they count beside a revision.
  func expected(besides revision: RevisionName?) -> [String] {
    segments.keys.map(\.fileName)
      + revisions.filter { $0.number > revision?.number ?? 0 }.map(\.fileName)
  }

  /// Records that this home put a segment, or found it equal to its log.
  mutating func own(_ name: SegmentName) {
    if own.insert(name).inserted { unsaved.insert(name) }
    if intended.remove(name) != nil { unsavedIntentions.insert(name) }
  }

  /// Whether it says what this home put: an entry of a failure alone does not.
  var knowsObjects: Bool { hasBegun || !own.isEmpty || !intended.isEmpty }

  /// Whether this home may have put a segment, or found it when it had nothing else to believe.
  func knows(_ name: SegmentName) -> Bool {
    segments[name] != nil || own.contains(name) || intended.contains(name)
  }

  /// Records that everything is in the database.
  mutating func markSaved() {
    (unsaved, unsavedIntentions, unsavedIndexes, unsavedRevisions) = ([], [], [], [])
  }

  /// Whether anything was put; a failed pass may have saved only its failure.
  var hasBegun: Bool { revision > 0 || sent > 0 || !segments.isEmpty }

  /// Whether the seal, which is not recorded here, supersedes no object.
  var hasOnlyFinalObjects: Bool {
    let ends = segments.keys.sorted { $0.range.lowerBound < $1.range.lowerBound }
    return revision == 0 && !hasCutObjects
      && zip(ends, ends.dropFirst()).allSatisfy {
        $0.range.upperBound == $1.range.lowerBound
      }
  }
}
