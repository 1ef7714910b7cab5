import ObjectStore
import Platform
import Replica
import SessionLog

/// The remote copies of the sessions of one day.
///
/// A home that changed its device id may have sent a session under several ids. Each of them is a
/// folder of its own.
struct RemoteCopies {
  /// One copy of each session, of the first device that has one; of this device's, a sealed one.
  private(set) var chosen: [SessionID: RemoteSession] = [:]
  private let store: (any ObjectStore)?
  private var listings: [String: FolderListing] = [:]
  /// This device, if local sessions are also searched where they were sealed.
  private let own: Device?

  /// Lists folders of one day.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  init(in store: (any ObjectStore)?, _ folders: [SessionFolder], own: Device?) async throws {
    (self.store, self.own) = (store, own)
    guard let store else { return }
    let ids = Set(own?.ids ?? [])
    for (folder, listing) in try await folders.concurrentMap({
      ($0, try await FolderListing($0, in: store))
    }) {
      listings[folder.device] = listing
      // A hold alone is no copy.
      chosen.merge(listing.sessions.filter { $0.value.hasContent }) { first, other in
        let areOwn = ids.contains(first.folder.device) && ids.contains(other.folder.device)
        return areOwn && first.seal == nil && other.seal != nil ? other : first
      }
    }
  }

  /// The copy of a local session: the one that its seal is part of, else the chosen one.
  ///
  /// Costs a listing for each device id under which sessions of the day were sealed and which was not
  /// listed already.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  mutating func copy(of session: SessionID, _ sidecar: Sidecar) async throws -> RemoteSession? {
    let known = chosen[session]
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    guard let store, own != nil, let seal = sidecar.seal, seal.store == store.location,
      sidecar.remoteReapedAt == nil, known?.folder != folder
    else { return known }
    // Its own folder was listed, if there is one.
    guard sidecar.deviceId != own?.deviceId else { return known }
    let listing: FolderListing
    if let listed = listings[folder.device] {
      listing = listed
    } else {
      listing = try await FolderListing(folder, in: store)
      listings[folder.device] = listing
    }
    return listing.sessions[session].flatMap { $0.hasContent ? $0 : nil } ?? known
  }
}
