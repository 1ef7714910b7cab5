/// What became of one key of a delete.
package struct DeleteOutcome: Sendable, Hashable {
  /// The key, relative to the store's prefix.
  package let key: String
  /// Why it could not be deleted; nil when it is gone (or never was there).
  package let error: StoreError?

  /// Makes an outcome.
  package init(key: String, error: StoreError? = nil) {
    self.key = key
    self.error = error
  }
}
