/// What became of one key of a delete.
public struct DeleteOutcome: Sendable, Hashable {
  /// The key, relative to the store's prefix.
  public let key: String
  /// Why it could not be deleted; nil when it is gone (or never was there).
  public let error: StoreError?

  /// Makes an outcome.
  public init(key: String, error: StoreError? = nil) {
    self.key = key
    self.error = error
  }
}
