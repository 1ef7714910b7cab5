import ObjectStore
import Replica
import SessionLog

/// The listings of one pass: each folder is asked for once, however many sessions want it.
actor FolderListings {
  private let store: any ObjectStore
  private var listings: [SessionFolder: Task<FolderListing, any Error>] = [:]

  init(_ store: any ObjectStore) { self.store = store }

  func listing(of folder: SessionFolder) async throws -> FolderListing {
    if let known = listings[folder] { return try await known.value }
    let store = store
    let task = Task { try await FolderListing(folder, in: store) }
    listings[folder] = task
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Lets a folder be listed anew by whoever asks next.
  func forget(_ folder: SessionFolder) { listings[folder] = nil }

  /// What a listing of this pass showed of a session; nil when its folder was not listed.
  func known(_ session: SessionID, in folder: SessionFolder) async throws -> RemoteSession? {
    guard listings[folder] != nil else { return nil }
    return try await self.session(session, in: folder)
  }

  func session(_ session: SessionID, in folder: SessionFolder) async throws -> RemoteSession {
    try await listing(of: folder)[session, in: folder]
  }
}
