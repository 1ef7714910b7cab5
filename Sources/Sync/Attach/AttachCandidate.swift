import Platform

/// A file that no session is known to read.
struct AttachCandidate {
  let path: String
  let status: FileStatus
  /// The matching source; nil for a neighbour that only a rotation can have put there.
  let source: LogSource?
  /// Whether it matches only as the rotation of a log that does.
  var isRotation = false
  /// Offset of the first unread byte, where another session has read the beginning.
  var base: Int64 = 0
  /// The session that read this path before.
  var before: AttachedFile?

  /// The compression format; nil for a plain log.
  var form: CompressedFile.Form? { CompressedFile.form(of: path) }
}
