import ObjectStore
import Replica

extension SyncContext {
  /// Reads sessions that this home's device, or another one with a known key, wrote to the store.
  var reader: RemoteReader { RemoteReader(store, knowing: keys) }

  /// The state of the store, without times in the future.
  ///
  /// - Throws: errors of the manifest.
  package func storeEntry() throws -> StoreState { try manifest.storeEntry().believed(at: now()) }

  /// Verifies that a folder is the intended store, before anything is proven against it.
  ///
  /// Sends nothing over HTTP: there, a pass checks once per boot and day.
  ///
  /// - Throws: errors of ``Replica/FormatMarker/check(_:isUsed:create:)``.
  package func checkFolder() async throws {
    if store.isFolder { try await checkStore() }
  }

  /// Opens the store's marker, and records durably that this home uses the store.
  func checkStore() async throws {
    let location = store.location
    let isUsed = try UsedStores.load(home).contains(location)
    try await FormatMarker.check(store, isUsed: isUsed, create: true)
    try UsedStores.record(location, in: home)
  }
}
