public import ObjectStore

/// `tidemark.json` at the root of a store: the version of the layout, byte-identical whoever writes
/// it, so that two machines can write it at once.
public enum FormatMarker {
  /// The key.
  public static let key = "tidemark.json"
  /// What this version writes.
  public static let content = Array("{\"format\":1,\"name\":\"tidemark\"}\n".utf8)

  /// Reads the marker and, where there is none, writes it.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - create: whether a missing marker is written.
  /// - Throws: ``ReplicaError`` when a later version is in use there, and nothing was written;
  ///   ``ObjectStore/StoreError``.
  public static func check(_ store: any ObjectStore, create: Bool) async throws {
    do {
      let found = try await store.get(key)
      guard found == content || found.isEmpty || content.starts(with: found) else {
        throw ReplicaError(
          .unsupportedFormat,
          "\(store.location)/\(key) names a format that this version does not know; "
            + "nothing was written. Use a newer tidemark or another folder.")
      }
      // A cut upload left the start of the marker.
      if found != content && create { _ = try await store.put(key, content) }
    } catch let error as StoreError where error.isNotFound {
      if create { _ = try await store.put(key, content) }
    }
  }
}
