/// When a log is made durable against a power loss; `kill -9` never loses what was written.
public enum FsyncPolicy: Sendable, Equatable {
  /// After every write.
  case always
  /// At a record of WARNING or above, and otherwise when this time has passed.
  case interval(Duration)
  /// Only at the end.
  case never
}
