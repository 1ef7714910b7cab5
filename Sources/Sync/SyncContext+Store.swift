import ObjectStore
import Replica

extension SyncContext {
  /// What is known of the store; what is said to have happened in the future is not.
  ///
  /// - Throws: errors of the manifest.
  package func storeEntry() throws -> StoreEntry { try manifest.storeEntry().believed(at: now()) }

  /// Makes sure that a folder is the store that is meant, before anything is proven against it.
  ///
  /// Sends nothing over HTTP: there a pass looks once a boot and day.
  ///
  /// - Throws: what ``Replica/FormatMarker/check(_:isUsed:create:)`` throws.
  package func checkFolder() async throws {
    if store.isFolder { try await checkStore() }
  }

  /// Opens the store's marker, and remembers durably that this home uses the store.
  func checkStore() async throws {
    let location = store.location
    let isUsed = try UsedStores.load(home).contains(location)
    try await FormatMarker.check(store, isUsed: isUsed, create: true)
    try UsedStores.note(location, in: home)
  }
}
