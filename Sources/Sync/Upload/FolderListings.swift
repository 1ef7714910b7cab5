import ObjectStore
import Platform
import Replica
import SessionLog

/// The listings of one pass: each folder is listed once, however many sessions need it.
actor FolderListings {
  private let store: any ObjectStore
  /// The only session wanted of a folder.
  private let only: [SessionFolder: SessionID]
  private var listings: [SessionFolder: Task<FolderListing, any Error>] = [:]
  /// Finished listings, for code that cannot wait.
  private var done: [SessionFolder: FolderListing] = [:]
  /// Sessions of which a listing lacked objects.
  private var completed: [SessionFolder: [SessionID: RemoteSession]] = [:]

  init(_ store: any ObjectStore) {
    self.store = store
    only = [:]
  }

  /// Prepares the listings for a plan's sessions.
  init(_ store: any ObjectStore, for plan: UploadPlan, of device: Device) {
    self.store = store
    only = Dictionary(grouping: plan.items) {
      SessionFolder(device: device.deviceId, session: $0.session)
    }.compactMapValues { $0.count == 1 ? $0.first?.session : nil }
  }

  private func listing(of folder: SessionFolder) async throws -> FolderListing {
    if let known = done[folder] { return known }
    if let known = listings[folder] { return try await known.value }
    let (store, session) = (store, only[folder])
    if Parallelism.isSequential {
      let listing = try await FolderListing(folder, session: session, in: store)
      done[folder] = listing
      return listing
    }
    let task = Task { try await FolderListing(folder, session: session, in: store) }
    listings[folder] = task
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// The session as a listing of this pass showed it; nil if its folder was not listed.
  func known(_ session: SessionID, in folder: SessionFolder) async throws -> RemoteSession? {
    guard listings[folder] != nil || done[folder] != nil else { return nil }
    return try await self.session(session, in: folder)
  }

  /// The session as its folder holds it; of a folder with one planned session, only that one is
  /// listed.
  func session(_ session: SessionID, in folder: SessionFolder) async throws -> RemoteSession {
    precondition(only[folder].map { $0 == session } ?? true, "the session was not listed")
    if let completed = completed[folder]?[session] { return completed }
    return try await listing(of: folder)[session, in: folder]
  }

  /// The same; a listing may be old: objects that it lacks are asked for by name.
  ///
  /// - Parameter names: file names of objects that were there, or were being put.
  func session(
    _ session: SessionID, in folder: SessionFolder, expecting names: [String]
  ) async throws -> RemoteSession {
    let (store, listed) = (store, try await self.session(session, in: folder))
    let keys = Set(names.map { folder.key + $0 }).subtracting(listed.keys)
    guard !keys.isEmpty else { return listed }
    let found = try await keys.sorted().concurrentMap { key -> ObjectEntry? in
      do {
        let object = try await store.head(key)
        return ObjectEntry(key: key, size: object.size, modified: object.modified)
      } catch let error as StoreError where error.isNotFound {
        return nil
      }
    }
    let remote = listed.adding(found.compactMap(\.self))
    completed[folder, default: [:]][session] = remote
    return remote
  }
}
