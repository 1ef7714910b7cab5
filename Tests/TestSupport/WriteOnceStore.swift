package import ObjectStore

/// A store in which each name can be written only once, as with object lock, or a key without
/// permission to overwrite.
package struct WriteOnceStore: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore

  /// Wraps a store.
  package init(_ base: any ObjectStore) { self.base = base }

  /// See `ObjectStore`.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    guard (try? await base.head(key)) == nil else {
      throw StoreError(
        .authentication, operation: "PUT", target: key, response: "403 AccessDenied")
    }
    return try await base.put(key, body)
  }

  /// See `ObjectStore`.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    keys.map {
      DeleteOutcome(
        key: $0,
        error: StoreError(
          .authentication, operation: "DELETE", target: $0, response: "403 AccessDenied"))
    }
  }
}
