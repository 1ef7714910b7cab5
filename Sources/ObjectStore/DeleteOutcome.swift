/// The result of deleting one key.
package struct DeleteOutcome: Sendable, Hashable {
  /// The key, relative to the store's prefix.
  package let key: String
  /// Why it could not be deleted; nil if it is gone, or never existed.
  package let error: StoreError?

  /// Makes an outcome.
  package init(key: String, error: StoreError? = nil) {
    self.key = key
    self.error = error
  }
}
