import Replica

/// Text that parses as a name is written the same way.
func fuzzNames(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  if let segment = SegmentName(text) { precondition(segment.fileName == text) }
  if let revision = RevisionName(text) { precondition(revision.fileName == text) }
  if let hold = HoldName(text) { precondition(hold.fileName == text) }
  if let folder = SessionFolder(key: text) { precondition(folder.key == text) }
}
