public import ObjectStore
public import SessionLog

/// What every operation between a home and its store works with.
public struct SyncContext: Sendable {
  /// The home.
  public let home: Home
  /// This device.
  public let device: Device
  /// The configured store.
  public let store: any ObjectStore
  /// The cache for this store.
  public let manifest: Manifest
  /// What tells living recorders from dead ones.
  public let machine: MachineEvidence
  /// Requests under way at once, at least 1.
  public let transfers: Int
  /// The clock.
  public let now: @Sendable () -> Timestamp

  /// Makes a context and opens the manifest.
  ///
  /// - Throws: what ``Manifest/init(home:store:)`` throws.
  public init(
    home: Home, device: Device, store: any ObjectStore, machine: MachineEvidence, transfers: Int,
    now: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws {
    self.home = home
    self.device = device
    self.store = store
    self.machine = machine
    self.transfers = max(1, transfers)
    self.now = now
    manifest = try Manifest(home: home, store: store.location)
  }

  /// Compressed bytes after which a segment is closed: bodies in flight stay below about 14 MiB,
  /// and no object above 8 MiB whatever its last frame holds.
  var segmentLimit: Int { max(1 << 20, min(4 << 20, (14 << 20) / transfers)) }
}
