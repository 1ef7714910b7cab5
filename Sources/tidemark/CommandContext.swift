import Foundation
import LogRecords
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync
import TidemarkUpload

/// The context of every command: a home, its configuration, this device.
struct CommandContext {
  let environment: [String: String]
  let home: Home
  let settings: Settings
  let device: Device
  /// Whether the home exists; without one there are neither local sessions nor a known device.
  let hasHome: Bool
  /// The command's logger.
  var logger: Logger { settings.storeSettings.logger }
  /// Opened with root's rights before assuming another user's; nil for one's own home.
  private let openedStore: (any ObjectStore)?
  /// The key of root's proofs that sessions are their users'; nil if users upload their own.
  private let ownershipKey: [UInt8]?
  /// The sessions that root has recorded as the user's; nil if users upload their own.
  private let claims: SessionClaims?
  /// The device's key, read with root's rights; nil for one's own home.
  private let openedSigner: DeviceKey?

  /// Opens one's own home.
  ///
  /// - Parameters:
  ///   - home: the home; by default the one that environment and machine determine.
  ///   - isNeeded: whether to create a missing home; if false, nothing is written, and a home that is
  ///     another machine's stays so.
  ///   - acceptsBadSettings: whether to report an invalid configuration and continue with the
  ///     defaults: no fault of ours may keep a program from being recorded.
  ///   - choice: the command line's settings for the store.
  ///   - logger: the command's logger.
  init(
    _ home: Home? = nil, isNeeded: Bool = true, acceptsBadSettings: Bool = false,
    choice: StoreChoice = StoreChoice(), logger: Logger
  ) throws {
    environment = ProcessInfo.processInfo.environment
    let home = home ?? Home.locate(environment: environment)
    self.home = home.compressing(with: SegmentCompression())
    try home.checkTrust()
    var settings = Settings()
    do {
      settings = try Settings(path: home.configurationPath)
    } catch  where acceptsBadSettings {
      Console.complain("\(error)")
    }
    choice.apply(to: &settings, environment: environment)
    settings.storeSettings.logger = logger
    self.settings = settings
    hasHome = try isNeeded || FileStatus(home.path) != nil
    if hasHome { try home.create() }
    let known = isNeeded ? nil : Device.known(home, on: .current)
    device = try known ?? (hasHome ? Self.device(of: home) : .unsaved(on: .current))
    // Made with the device, so that no session is older than its key; an upload reports why it
    // cannot be.
    if isNeeded, !File.exists(home.keyPath) { _ = try? DeviceKey.load(home, device, on: .current) }
    let servesAll = home.owner?.isRoot == true
    (openedStore, openedSigner) = (nil, nil)
    ownershipKey = servesAll ? try MachineWide.ownershipKey(on: .current) : nil
    claims = servesAll ? home.owner.map { MachineWide.claims(of: $0, on: .current) } : nil
  }

  /// Opens another user's home as root, and continues with that user's rights.
  ///
  /// - Parameters:
  ///   - name: the user; nil for one's own home.
  ///   - isNeeded: whether to create one's own home if missing.
  ///   - transfers: maximum number of concurrent requests.
  ///   - byteLimit: maximum bytes of objects to send.
  ///   - claimsOnlyOpen: whether sealed sessions stay as they are: only open ones are claimed.
  init(
    user name: String?, isNeeded: Bool = true, transfers: Int? = nil, byteLimit: ByteCount? = nil,
    claimsOnlyOpen: Bool = false,
    choice: StoreChoice = StoreChoice(), logger: Logger
  ) throws {
    let own = try CommandContext(
      isNeeded: isNeeded || name != nil, choice: choice, logger: logger)
    guard let name else {
      self = own
      return
    }
    let account = try own.account(named: name)
    var store = try own.openStore(transfers: transfers)
    if let byteLimit { store = store.map { LimitedStore($0, bytes: byteLimit) } }
    let home = MachineWide.home(of: account)
    let claims = MachineWide.claims(of: account, on: .current)
    if isNeeded { try Self.claim(home, onlyOpen: claimsOnlyOpen, claims, logger) }
    try self.init(home, from: own, claims: claims, store: store)
    // Only root may write to a folder: keep root's rights in reserve instead of giving them up.
    if store?.isFolder == true {
      try account.assumeRights()
    } else {
      try account.dropRights()
    }
  }

  /// Opens another user's home as root only to examine it, and gives up root's rights for good.
  ///
  /// Reading what is local needs no request, and so no rights but the user's, and no login.
  init(examining name: String, logger: Logger) throws {
    let own = try CommandContext(isNeeded: false, logger: logger)
    let account = try own.account(named: name)
    let home = MachineWide.home(of: account)
    let claims = MachineWide.claims(of: account, on: .current)
    Self.lookUpClaims(of: home, in: claims)
    try self.init(home, from: own, claims: claims, store: own.namedStoreWithoutLogin())
    try account.dropRights()
  }

  /// The account of a user whose home this process may open.
  private func account(named name: String) throws -> Account {
    guard servesAllUsers else {
      throw Failure(
        .usage, "--user is for root where \(MachineWide.configurationPath) configures the machine")
    }
    guard let account = Account(named: name) else {
      throw Failure(.usage, "unknown user '\(String(oneLine: name, limit: 80))'")
    }
    return account
  }

  /// The keys that seals must be signed with, without a store.
  func knownKeys() -> KnownKeys {
    KnownKeys(
      home, named: settings.trust,
      own: openedSigner ?? DeviceKey.find(home, deviceId: device.deviceId),
      former: device.ids)
  }

  private init(
    _ home: Home, from own: CommandContext, claims: SessionClaims, store: (any ObjectStore)?
  ) throws {
    self.claims = claims
    environment = own.environment
    settings = own.settings
    (device, hasHome) = (own.device, true)
    self.home = home.compressing(with: SegmentCompression())
    openedStore = store
    ownershipKey = own.ownershipKey
    openedSigner = try own.openedSigner ?? DeviceKey.loadIfRoom(own.home, own.device, on: .current)
  }

  /// The homes to upload from: one's own or, for root in machine-wide mode, every user's.
  ///
  /// One's own is last. Folders that belong to no user are skipped. Others' homes are not read: the
  /// caller starts a process for each, see ``HomeProcess``.
  ///
  /// - Parameters:
  ///   - isNeeded: whether to create one's own home if missing.
  static func all(
    isNeeded: Bool = true, transfers: Int? = nil,
    choice: StoreChoice = StoreChoice(), logger: Logger
  ) throws -> [CommandContext] {
    let own = try CommandContext(isNeeded: isNeeded, choice: choice, logger: logger)
    guard own.servesAllUsers else { return [own] }
    RefusedHomes(own.home).report(try RefusedHome.all())
    let homes = try MachineWide.homes().homes
    let store = try own.openStore(transfers: transfers)
    return try homes.filter { $0 != own.home }.map { home in
      let claims = MachineWide.claims(of: home.owner ?? .current, on: .current)
      return try CommandContext(home, from: own, claims: claims, store: store)
    }
      + [own]
  }

  /// Possibly open sessions in skipped folders that are named like homes.
  static func openInRefusedHomes(besides setups: [CommandContext]) throws -> OpenSessions {
    guard setups.last?.servesAllUsers == true else { return .none }
    return .unknown(at: try MachineWide.homes().refused.map(\.path))
  }

  /// The foreign logs of this home; in machine-wide mode they are root's.
  ///
  /// - Throws: ``Failure`` for root if others may choose them: root can read every file.
  var sources: [LogSource] {
    get throws {
      guard home.owner == nil || home.owner?.isRoot == true, !settings.sources.isEmpty else {
        return []
      }
      guard settings.isOursAlone || !Account.hasRootsRights else {
        throw Failure(
          .configuration,
          "\(home.configurationPath) names logs under 'sources:', and others than root may change it: "
            + "run as its owner, or 'chown root' it and 'chmod go-w' it")
      }
      return settings.sources
    }
  }

  /// Whether this process works for all users of the machine.
  var servesAllUsers: Bool { home.owner?.isRoot == true }

  private static func device(of home: Home) throws -> Device {
    do {
      return try Device.load(home, on: .current)
    } catch let error as SystemError where error.isNotFound && home.owner != nil {
      throw Failure(
        .configuration, "\(error.path) is not there yet; run 'tidemark upload' as root once")
    }
  }

  // MARK: The store

  private var storeText: String? {
    environment["TIDEMARK_STORE"].flatMap { $0.isEmpty ? nil : $0 } ?? settings.store
  }

  /// The store in environment or configuration, in the form used by error messages; nil if there is
  /// none, or it is root's.
  var namedStore: String? {
    isServedByRoot ? nil : storeText.map { (try? storeURL($0))?.description ?? $0 }
  }

  /// Whether this process may send logs, or sidecars alone.
  ///
  /// Requires a store and consent; naming the store in the environment alone counts as consent. If
  /// root uploads for all users, no other user does.
  var sends: Bool { storeText != nil && consents && !isServedByRoot }

  private var consents: Bool {
    settings.consent.map { $0 != .none } ?? (settings.store == nil)
  }

  /// Why nothing is sent from this home, for a person, with advice; nil if something is.
  var reasonNotToSend: NotSending? {
    guard let storeText else { return settings.hasNoStore ? .storeIsNone : .noStore }
    if isServedByRoot { return .servedByRoot }
    guard consents else { return settings.consent == nil ? .noConsent(storeText) : .consentIsNone }
    return nil
  }

  /// Whether another process, root's, uploads this home's sessions.
  var isServedByRoot: Bool { home.owner != nil && openedStore == nil && !servesAllUsers }

  /// The context for operations with the store.
  func context(
    transfers: Int? = nil, counted: (CountingStore) -> Void = { _ in }
  ) throws -> SyncContext {
    try context(store: storeURL(), transfers: transfers, counted: counted)
  }

  /// The consent, if anything may be sent.
  var consent: Consent { settings.consent == .metadata ? .metadata : .logs }

  /// The URL of the store that logs may be sent to.
  ///
  /// - Parameter offersLocal: whether the command can do without it, by `--local`.
  func storeURL(offersLocal: Bool = false) throws -> StoreURL {
    guard let storeText, reasonNotToSend == nil else {
      throw (reasonNotToSend ?? .noStore).failure(in: home, offersLocal: offersLocal)
    }
    return try storeURL(storeText)
  }

  /// The context for operations with a given store.
  ///
  /// - Parameters:
  ///   - needsLogin: whether to fail if the store's login cannot be read, rather than at the first
  ///     request.
  ///   - counted: receives the store whose requests are to be counted.
  func context(
    store: StoreURL, transfers: Int? = nil, needsLogin: Bool = true,
    counted: (CountingStore) -> Void = { _ in }
  ) throws -> SyncContext {
    // Each session needs a few requests: if all began at once, none might finish.
    let most = settings.storeSettings.maximumRequests.map { max(1, $0 / 8) }
    let wanted = transfers ?? settings.transfers
    let store = CountingStore(
      try openedStore
        ?? (needsLogin
          ? settings.store(at: store, transfers: transfers, environment: environment)
          : storeOrItsProblem(at: store)))
    counted(store)
    var ownership: SessionOwnership?
    if let ownershipKey, let claims, let owner = home.owner {
      ownership = SessionOwnership(
        owner, store: store.location, key: ownershipKey, claims: claims)
    }
    return try SyncContext.open(
      home, of: device, on: .current, store: store,
      transfers: most.map { min(wanted ?? $0, $0) } ?? wanted,
      redaction: settings.redaction, consent: consent, ownership: ownership,
      limits: UploadLimits(settings.retention), signer: openedSigner, trust: settings.trust,
      logger: logger)
  }

  /// The context if there is a store; nil for a home that sends nothing.
  ///
  /// - Throws: also if root uploads its sessions: then this process cannot know which copies may be
  ///   deleted.
  func contextIfSending(
    needsLogin: Bool = true, offersLocal: Bool = false
  ) throws -> SyncContext? {
    try storeText != nil && consents
      ? context(store: storeURL(offersLocal: offersLocal), needsLogin: needsLogin) : nil
  }

  /// Why unsent sessions stay on this machine although nothing is sent; nil if the configuration
  /// disables sending.
  var reasonToKeepUnsent: String? {
    if settings.hasNoStore || settings.consent == Consent.none { return nil }
    let advice = "'store: none' or 'consent: none' in \(home.configurationPath) lets age decide"
    guard storeText != nil else { return "no store is named that it could be in; \(advice)" }
    return "a store is configured, but nothing was sent there; \(advice)"
  }

  /// The context for reading a store, if there is one that this process can use.
  ///
  /// Local state can be read with it even if the store's login is missing.
  func contextIfReadable() throws -> SyncContext? {
    try sends && hasHome ? context(store: storeURL(), needsLogin: false) : nil
  }

  /// Why the configured store cannot be opened; nil if it can, or there is none.
  func storeProblem() throws -> StoreError? {
    guard sends, openedStore == nil else { return nil }
    return (try storeOrItsProblem(at: storeURL()) as? UnusableStore)?.error
  }

  /// The store at a URL; if its login cannot be read, one whose requests fail with that error, so
  /// that it does not hide what is known locally.
  private func storeOrItsProblem(at url: StoreURL) throws -> any ObjectStore {
    do {
      return try settings.store(at: url, environment: environment)
    } catch let error as StoreError
      where error.code == .configuration || error.code == .authentication
    {
      return try UnusableStore(
        url, error, settings: settings.storeSettings, environment: environment)
    }
  }

  /// A store for reading: a folder must have its marker.
  private func reading(_ store: any ObjectStore) throws -> any ObjectStore {
    try MarkedFolder.wrapping(store) { try UsedStores.load(home).contains($0) }
  }

  // MARK: Reading

  /// The context for reading sessions during an operation with the store.
  func reading(with context: SyncContext?) throws -> ReadingContext {
    var reading = ReadingContext(home: home, device: device, machine: .current)
    reading.report = { Console.complain($0) }
    guard let context else { return reading }
    reading.store = try self.reading(context.store)
    reading.keys = context.keys
    reading.uploaded = { try context.manifest.sentBytes(of: $0) }
    reading.clockOffset = { context.clockOffset }
    return reading
  }

  /// The context for reading sessions; the manifest is opened when needed.
  ///
  /// The store is one that this process can use, and is required only if its side is requested.
  ///
  /// - Parameter offersLocal: whether the command can do without the store, by `--local`.
  func reading(
    _ side: SessionReader.Side, offersLocal: Bool = false
  ) throws -> ReadingContext {
    var reading = ReadingContext(home: home, device: device, machine: .current)
    reading.report = { Console.complain($0) }
    guard side != .local, side == .remote || sends else { return reading }
    let url = try storeURL(offersLocal: offersLocal)
    let store = try self.reading(openedStore ?? storeOrItsProblem(at: url))
    let clock = ServerClock()
    reading.keys = knownKeys()
    reading.store = ClockedStore.wrapping(store, clock) { .now() }
    reading.clockOffset = { clock.offset }
    let manifest = Guarded<Manifest?>(nil)
    reading.uploaded = { session in
      try manifest.withLock { known in
        let manifest =
          try known
          ?? Manifest.open(
            home: home, store: store.location, device: device.deviceId)
        known = manifest
        return try manifest.sentBytes(of: session)
      }
    }
    return reading
  }

  private func openStore(transfers: Int? = nil) throws -> (any ObjectStore)? {
    guard sends, let text = storeText else { return nil }
    guard settings.isOursAlone || !settings.namesSecretFiles || !Account.hasRootsRights else {
      throw Failure(
        .configuration,
        "\(home.configurationPath) names files with secrets, and others than root may change it: "
          + "'chown root' it and 'chmod go-w' it")
    }
    return try settings.store(at: storeURL(text), transfers: transfers, environment: environment)
  }

  /// The store to which this process may send, to read what is known about it locally: its login is
  /// not read, and its requests fail.
  private func namedStoreWithoutLogin() throws -> (any ObjectStore)? {
    guard sends, let text = storeText else { return nil }
    let problem = StoreError(
      .authentication, operation: "use", target: text, response: "its login was not read")
    return try UnusableStore(
      storeURL(text), problem, settings: settings.storeSettings, environment: environment)
  }

  /// Whether the store is unusable at present: requests its marker.
  func isStoreDown(transfers: Int?) async -> Bool {
    do {
      guard let store = try openStore(transfers: transfers) else { return false }
      return try await !FormatMarker.isWhole(in: store)
    } catch {
      return true
    }
  }

  /// Parses a store's URL as the settings allow.
  func storeURL(_ text: String) throws -> StoreURL {
    try StoreURL(text, allowsPlaintext: settings.storeSettings.allowsPlaintext)
  }

  /// The home's lived time, even without a store.
  func lived(_ context: SyncContext?) throws -> LivedClock {
    try context?.lived ?? LivedClock(home: home, machine: .current)
  }

  /// The attacher of other programs' logs; nil if none are configured.
  func attacher(_ context: SyncContext?) throws -> Attacher? {
    let sources = try sources
    guard let context, !sources.isEmpty else { return nil }
    return try Attacher(context, sources: sources)
  }

  /// Bytes by which attached logs have grown that a plan does not include; zero unless logs may be
  /// sent.
  func growth(
    found attacher: Attacher?, besides plan: UploadPlan?
  ) throws -> AttachPlan.Growth {
    guard consent == .logs, let attacher, let plan else { return .init() }
    return try attacher.growth(attacher.plan(), besides: plan)
  }

  // MARK: The lock

  /// The longest wait for a running upload.
  private static let patience = Duration.seconds(600)

  /// Like ``requireLock()``, after waiting for a running upload.
  func waitForLock() async throws -> HomeLock {
    let lock = try await HomeLock.acquire(home, within: Self.patience) {
      try await Task.sleep(for: $0)
    }
    return try lock ?? requireLock()
  }

  /// Like ``requireLock()``; nil for a dry run, which changes nothing and does not wait.
  func requireLock(unless isDryRun: Bool) throws -> HomeLock? {
    isDryRun ? nil : try requireLock()
  }

  /// Acquires the home's lock, which keeps uploads, reapers and deletions away for as long as the
  /// result lives.
  func requireLock() throws -> HomeLock {
    guard let lock = try HomeLock.acquire(home) else {
      throw Failure(.tryLater, "an upload is running in \(home.path); try again when it has ended")
    }
    return lock
  }
}
