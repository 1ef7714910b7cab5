package import ObjectStore
package import Platform
package import Redaction
package import Replica
package import SessionLog
package import Logging

/// What every operation between a home and its store works with.
package struct SyncContext: Sendable {
  /// The home.
  package let home: Home
  /// This device.
  package let device: Device
  /// The configured store.
  package let store: any ObjectStore
  /// What its clock shows.
  let serverClock = ServerClock()
  /// The cache for this store.
  package let manifest: Manifest
  /// Tells living recorders from dead ones, and the time.
  package let machine: Machine
  /// The home's lived time, which every age is taken by.
  package let lived: LivedClock
  /// The rules that redact what is sent.
  package let redaction: RuleLibrary
  /// Signs the seals; nil where they are not signed.
  let signer: DeviceKey?
  /// What seals are signed with; nil where that is not asked.
  package let keys: KnownKeys?
  /// Whether logs leave, or sidecar revisions alone.
  package let consent: Consent
  /// Whose sessions may be gone on with; nil where a home has but one user's credentials.
  let ownership: SessionOwnership?
  /// Sessions worked on at once, at least 1: as many requests are under way.
  package let transfers: Int
  /// How many they may be where little is to be sent of each, which takes little memory.
  let smallTransfers: Int
  /// Sizes and counts at which an upload splits, merges and compares what it sends.
  let limits: UploadLimits
  /// What the store takes at once.
  let objectLimit: ObjectLimit
  /// For bodies on their way, in bytes: memory does not grow with the requests under way.
  let bodies = WeightedSemaphore(SyncContext.bodyRoom)
  /// For sessions that are compared with their signature, which takes memory of its own.
  let deltas = WeightedSemaphore(1)
  /// Hears of what a pass decides, and why.
  let logger: Logger

  /// Makes a context and opens the manifest.
  ///
  /// - Parameters:
  ///   - transfers: requests under way at once; nil for 12, or 32 where each is small.
  ///   - ownership: whose sessions may be gone on with, where root sends those of all users.
  ///   - limits: sizes and counts at which an upload splits, merges and compares what it sends.
  ///   - signer: signs the seals; nil where they are not signed.
  ///   - keys: what seals are signed with; nil where that is not asked.
  ///   - logger: hears of what a pass decides, and why.
  /// - Throws: what ``Manifest/init(home:store:device:)`` throws; ``Platform/SystemError``;
  ///   ``Redaction/RedactionError``.
  package init(
    home: Home, device: Device, store: any ObjectStore, machine: Machine, transfers: Int?,
    redaction: RedactionRules = RedactionRules(), consent: Consent = .logs,
    ownership: SessionOwnership? = nil, limits: UploadLimits = UploadLimits(),
    signer: DeviceKey? = nil, keys: KnownKeys? = nil,
    logger: Logger = .off
  ) throws {
    self.home = home
    self.device = device
    // A folder has no clock but ours.
    self.store = store.isFolder ? store : ClockedStore(store, serverClock, now: machine.now)
    self.machine = machine
    lived = try LivedClock(home: home, machine: machine)
    self.transfers = max(1, transfers ?? 12)
    smallTransfers = max(1, transfers ?? StoreSettings.mostTransfers)
    self.logger = logger
    self.consent = consent
    self.ownership = ownership
    self.signer = signer
    self.keys = keys
    self.redaction = try RuleLibrary(home, redaction)
    manifest = try Manifest.open(home: home, store: store.location, device: device.deviceId)
    self.limits = limits
    objectLimit = try ObjectLimit(manifest, limits)
  }

  /// The time.
  package func now() -> Timestamp { machine.now() }

  /// How far the server's clock is ahead of ours as the answers so far show it; nil where none does.
  package var clockOffset: Duration? { serverClock.offset }

  /// Saves the home's lived time where that is due, with what the server's answers say of its clock.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func saveLivedTime(holding lock: HomeLock) throws {
    hearServer()
    try lived.save(holding: lock)
  }

  /// Counts the time before this boot that the server's answers so far confirm.
  func hearServer() {
    guard let offset = serverClock.offset else { return }
    lived.hear(now().asServer(offset: offset), from: store.location)
  }

  /// Bytes of bodies that are in memory at once.
  static let bodyRoom = 10 << 20

  /// Compressed bytes after which a segment is closed: few logs of a day are larger, some have room
  /// at once, and none is above what the store takes whatever its last frame holds.
  var segmentLimit: Int { min(objectLimit.bytes / 2, 7 << 19) }
}
