import ObjectStore
import Platform
import Replica
import SessionLog

/// The remote copies of the sessions of one day.
///
/// An id is unique only within a device: whoever may write under one device's id can put any session
/// there. Each device's folder therefore has a copy of its own. Only a home that changed its device id
/// may have sent one session under several.
struct RemoteCopies {
  /// The copies of each session, one for each folder, in the order of the folders.
  private(set) var all: [SessionID: [RemoteSession]] = [:]
  private let store: (any ObjectStore)?
  private var listings: [String: FolderListing] = [:]
  private let device: Device
  /// Whether local sessions are also searched where they were sealed, under whichever id.
  private let followsSeals: Bool

  /// Lists folders of one day.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  init(
    in store: (any ObjectStore)?, _ folders: [SessionFolder], device: Device, followsSeals: Bool
  ) async throws {
    (self.store, self.device, self.followsSeals) = (store, device, followsSeals)
    guard let store else { return }
    for (folder, listing) in try await folders.concurrentMap({
      ($0, try await FolderListing($0, in: store))
    }) {
      listings[folder.device] = listing
      // A hold alone is no copy.
      for (session, remote) in listing.sessions where remote.hasContent {
        all[session, default: []].append(remote)
      }
    }
  }

  /// The copies of a local session under the ids of its home, the likeliest first: the one that its
  /// seal is part of, then others with a seal.
  ///
  /// Costs a listing for each device id under which sessions of the day were sealed and which was not
  /// listed already.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  mutating func own(_ session: SessionID, _ sidecar: Sidecar) async throws -> [RemoteSession] {
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    let isSealed =
      sidecar.remoteReapedAt == nil && store != nil && sidecar.seal?.store == store?.location
    // The folder of this device was listed, if there is one.
    if let store, followsSeals, isSealed, folder.device != device.deviceId,
      listings[folder.device] == nil
    {
      listings[folder.device] = try await FolderListing(folder, in: store)
    }
    // A home that lost its device record does not know its former ids, but its sidecars do.
    let ids = device.ids + (followsSeals ? [folder.device] : [])
    var found: [RemoteSession] = []
    if isSealed, ids.contains(folder.device),
      let sealed = listings[folder.device]?.sessions[session], sealed.hasContent
    {
      found.append(sealed)
    }
    let others = (all[session] ?? []).filter {
      ids.contains($0.folder.device) && $0.folder != found.first?.folder
    }
    return found + others.filter { $0.seal != nil } + others.filter { $0.seal == nil }
  }
}
