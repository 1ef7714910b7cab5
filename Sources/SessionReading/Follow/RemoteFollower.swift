package import ObjectStore
package import Replica
import SessionLog

/// Follows a session in a store: each check is one listing, and only new bytes are fetched.
package final class RemoteFollower: StreamFollower {
  private let store: any ObjectStore
  private let keys: KnownKeys?
  private var remote: RemoteSession
  private var parts: RangedStreamReader?
  private var ending: StreamGrowth.Ending?

  /// Follows a session in a listing.
  package init(
    _ remote: RemoteSession, in store: any ObjectStore, knowing keys: KnownKeys?
  ) {
    self.remote = remote
    self.store = store
    self.keys = keys
  }

  /// See ``StreamFollower/poll()``.
  package func poll() async throws -> StreamGrowth {
    let (folder, session) = (remote.folder, remote.session)
    let listed = try await FolderListing(folder, session: session, in: store)[session, in: folder]
    var found = remote.listedAgain(as: listed)
    guard found.revision != nil || !found.segments.isEmpty else {
      throw LookupError(.gone, session.description)
    }
    let isRewritten = found.generation != remote.generation
    let end = found.seal?.length ?? found.mark
    let reader = RemoteReader(store, knowing: keys)
    if found.seal != nil || reader.mustAccept(found) {
      let accepted = try await reader.accept(found)
      found = try accepted.session()
      if found.seal != nil, let sidecar = accepted.sidecar {
        ending = StreamGrowth.Ending(
          status: sidecar.status, cause: sidecar.cause, isLogWithheld: sidecar.withholdsLog)
      }
    }
    remote = found
    parts = try RangedStreamReader(of: found, upTo: end, in: store, knowing: keys)
    return StreamGrowth(range: 0..<end, ending: ending, isRewritten: isRewritten)
  }

  /// Fetches a range that the last check found.
  package func read(_ range: Range<Int64>) async throws -> [UInt8] {
    var read: [UInt8] = []
    try await parts?.read([Range(range)]) { read += $1 }
    return read
  }
}
