/// When a log is made durable against a power failure; `kill -9` never loses written records.
public enum FsyncPolicy: Sendable, Equatable {
  /// After every write.
  case always
  /// At a record of WARNING or above, and otherwise when this interval has passed.
  case interval(Duration)
  /// Only at the end.
  case never
}
