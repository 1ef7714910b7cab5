import ObjectStore
import Platform
import Replica
import SessionLog

/// The listings of one pass: each folder is listed once, however many sessions need it.
actor FolderListings {
  private let store: any ObjectStore
  // By folder, as text: the first dictionary of another key takes longer than most ticks need for
  // all that they look up.

  /// The only session wanted of a folder.
  private let only: [String: SessionID]
  private var listings: [String: Task<FolderListing, any Error>] = [:]
  /// Finished listings, for code that cannot wait.
  private var done: [String: FolderListing] = [:]
  /// Sessions of which a listing lacked objects.
  private var completed: [String: [SessionID: RemoteSession]] = [:]

  init(_ store: any ObjectStore) {
    self.store = store
    only = [:]
  }

  /// Prepares the listings for a plan's sessions.
  init(_ store: any ObjectStore, for plan: UploadPlan, of device: Device) {
    self.store = store
    only = Dictionary(grouping: plan.items) {
      Self.text(of: SessionFolder(device: device.deviceId, session: $0.session))
    }.compactMapValues { $0.count == 1 ? $0.first?.session : nil }
  }

  private static func text(of folder: SessionFolder) -> String { folder.device + "/" + folder.day }

  private func listing(of folder: SessionFolder) async throws -> FolderListing {
    let text = Self.text(of: folder)
    if let known = done[text] { return known }
    if let known = listings[text] { return try await known.value }
    let (store, session) = (store, only[text])
    if Parallelism.isSequential {
      let listing = try await FolderListing(folder, session: session, in: store)
      done[text] = listing
      return listing
    }
    let task = Task { try await FolderListing(folder, session: session, in: store) }
    listings[text] = task
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// The session as a listing of this pass showed it; nil if its folder was not listed.
  func known(_ session: SessionID, in folder: SessionFolder) async throws -> RemoteSession? {
    let text = Self.text(of: folder)
    guard listings[text] != nil || done[text] != nil else { return nil }
    return try await self.session(session, in: folder)
  }

  /// The session as its folder holds it; of a folder with one planned session, only that one is
  /// listed.
  func session(_ session: SessionID, in folder: SessionFolder) async throws -> RemoteSession {
    let text = Self.text(of: folder)
    precondition(only[text].map { $0 == session } ?? true, "the session was not listed")
    if let completed = completed[text]?[session] { return completed }
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
    completed[Self.text(of: folder), default: [:]][session] = remote
    return remote
  }
}
