package import Logging
package import ObjectStore
package import Platform
package import Redaction
package import Replica
package import SessionLog

/// The dependencies of every operation between a home and its store.
package struct SyncContext: Sendable {
  /// The home.
  package let home: Home
  /// This device.
  package let device: Device
  /// The configured store.
  package let store: any ObjectStore
  /// The server's clock as its answers show it.
  let serverClock = ServerClock()
  /// The cache for this store.
  package let manifest: Manifest
  /// Distinguishes live recorders from dead ones, and gives the time.
  package let machine: Machine
  /// The home's lived time, which measures every age.
  package let lived: LivedClock
  /// The rules for redaction.
  package let redaction: RuleLibrary
  /// Signs the seals; nil to leave them unsigned.
  let signer: DeviceKey?
  /// The keys that revisions must be signed with; nil to skip that check.
  package let keys: KnownKeys?
  /// Whether logs are sent, or sidecars only.
  package let consent: Consent
  /// Restricts which sessions may be continued; nil where a home has the credentials of one user.
  let ownership: SessionOwnership?
  /// Maximum number of sessions, and so of requests, in progress at once; at least 1.
  package let transfers: Int
  /// The maximum for sessions with little to send, which need little memory.
  let smallTransfers: Int
  /// Sizes and counts at which an upload splits, merges and compares segments.
  let limits: UploadLimits
  /// The largest object that the store accepts.
  let objectLimit: ObjectLimit
  /// Bounds the bytes of bodies in memory, however many requests are in progress.
  let bodies = WeightedSemaphore(SyncContext.bodyRoom)
  /// Bounds the comparisons with a signature, which need extra memory.
  let deltas = WeightedSemaphore(1)
  /// Logs the decisions of a pass, with the reasons.
  let logger: Logger

  /// Makes a context and opens the manifest.
  ///
  /// - Parameters:
  ///   - transfers: maximum number of requests at once; nil for 12, or 32 if each is small.
  ///   - ownership: which sessions may be continued, when root sends those of all users.
  ///   - limits: sizes and counts at which an upload splits, merges and compares segments.
  ///   - signer: signs the seals; nil to leave them unsigned.
  ///   - keys: the keys that revisions must be signed with; nil to skip that check.
  ///   - logger: logs the decisions of a pass, with the reasons.
  /// - Throws: errors of ``Manifest/init(home:store:device:)``; ``Platform/SystemError``;
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
    self.store = ClockedStore.wrapping(store, serverClock, now: machine.now)
    self.machine = machine
    lived = try LivedClock(home: home, machine: machine)
    self.transfers = max(1, transfers ?? StoreSettings.standardTransfers)
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

  /// The current time.
  package func now() -> Timestamp { machine.now() }

  /// How far the server's clock is ahead of ours, by its answers so far; nil if unknown.
  package var clockOffset: Duration? { serverClock.offset }

  /// The current time by the server's clock.
  ///
  /// Before its first answer that is this machine's time: whoever asks then has listed nothing that
  /// could be compared with it.
  package var serverNow: ServerTime {
    clockOffset.map { now().asServer(offset: $0) } ?? now().assumingSynchronizedClocks
  }

  /// Saves the home's lived time if due, including the time that the server's dates confirm.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func saveLivedTime(holding lock: HomeLock) throws {
    hearServer()
    try lived.save(holding: lock)
  }

  /// Credits the time before this boot that the server's dates so far confirm.
  func hearServer() {
    guard let offset = serverClock.offset else { return }
    lived.recordServerDate(now().asServer(offset: offset), from: store)
  }

  /// Maximum bytes of bodies in memory.
  static let bodyRoom = 10 << 20

  /// Compressed size at which a segment is closed: few logs of a day are larger, several fit into
  /// memory at once, and none exceeds what the store accepts, even with the last frame.
  var segmentLimit: Int { min(objectLimit.bytes / 2, 7 << 19) }
}
