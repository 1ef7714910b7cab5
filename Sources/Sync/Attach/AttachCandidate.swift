import Platform

/// A file that no session is known to read.
struct AttachCandidate {
  let path: String
  let status: FileStatus
  /// The source that it matches; nil for a neighbour that only a rotation can have put there.
  let source: LogSource?
  /// From where on nobody has read it, where its beginning is known from another session.
  var base: Int64 = 0
  /// The session that was read at this path before.
  var before: AttachedFile?

  /// How it is compressed; nil for a plain log.
  var form: CompressedFile.Form? { CompressedFile.form(of: path) }
}
