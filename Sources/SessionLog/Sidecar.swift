public import LogRecords
public import Platform

/// The JSON beside a log: who, where, when, and how it ended.
public struct Sidecar: Sendable, Equatable, Codable {
  /// The recorder, with what distinguishes it from another process of the same number.
  public struct Recorder: Sendable, Equatable, Codable {
    /// Process id.
    public var pid: Int32
    /// The process's start in clock ticks since boot.
    public var processStart: UInt64
    /// The boot in which it ran.
    public var bootId: String
    /// The namespace of `pid`.
    public var pidNamespace: String
    /// The machine, as a hash; nil if it has no id.
    public var machineId: String?
    /// The file that counts out-of-memory kills where it ran; nil if there is none.
    public var memoryEvents: String?
    /// The number of such kills when it started.
    public var memoryKills: Int?
    /// Whether it reads its own output through pipes, whose content a kill may lose; nil if not.
    public var capturesConsole: Bool?
  }

  /// The local record of a session's seal.
  public struct Seal: Sendable, Equatable, Codable {
    /// Location of the store.
    public var store: String
    /// File name of the revision that is the seal.
    public var revision: String
    /// The time of the seal.
    public var sealedAt: Timestamp
    /// SHA-256 of the stream, lower-case hex; nil if the log was not sent, or only in part.
    public var digest: String?
    /// Length of the stream in the store.
    public var length: StreamOffset
    /// The local log when it was compared with the stream; nil in records of earlier versions.
    public var log: LogState?
    /// Whether the local log no longer held what was sent, so that the store's copy alone was sealed;
    /// nil if it did, or was gone.
    public var logDiffers: Bool?

    /// A log as it was at one moment.
    public struct LogState: Sendable, Equatable, Codable {
      /// Its length: less than the stream's, if the end was lost and the store has it.
      public var length: StreamOffset
      /// When it last changed.
      public var modified: Timestamp

      /// Describes a log.
      public init(length: StreamOffset, modified: Timestamp) {
        (self.length, self.modified) = (length, modified)
      }
    }

    /// Makes a record.
    public init(
      store: String, revision: String, sealedAt: Timestamp, digest: String?, length: StreamOffset,
      log: LogState? = nil, logDiffers: Bool? = nil
    ) {
      self.store = store
      self.revision = revision
      self.sealedAt = sealedAt
      self.digest = digest
      self.length = length
      self.log = log
      self.logDiffers = logDiffers
    }
  }

  /// The foreign file of an attached session.
  ///
  /// The stream is the file from ``base`` on; what the file no longer has, or never had, such as a
  /// GAP line, is in the home's own log from stream offset ``length`` on.
  public struct Source: Sendable, Equatable, Codable {
    /// The file's last known path.
    public var path: String
    /// Its file system.
    public var device: UInt64
    /// Its number there; 0 if it is gone, or contains something else.
    public var inode: UInt64
    /// User number of its owner; nil if an earlier version recorded the file.
    public var owner: UInt32?
    /// Offset in the file of the stream's first byte.
    public var base: Int64
    /// Stream bytes in the file; nil while it may grow.
    public var length: StreamOffset?
    /// How many of the file's first bytes ``headHash`` covers, 4096 at most.
    public var headLength: Int
    /// Start of SHA-256 over the file's first bytes, in lower-case hex.
    public var headHash: String

    /// Describes a file.
    public init(
      path: String, device: UInt64, inode: UInt64, owner: UInt32? = nil, base: Int64,
      length: StreamOffset?, headLength: Int, headHash: String
    ) {
      self.path = path
      self.device = device
      self.inode = inode
      self.owner = owner
      self.base = base
      self.length = length
      self.headLength = headLength
      self.headHash = headHash
    }

    /// The file position of a byte of the stream.
    package func position(of offset: StreamOffset) -> Int64 { base + Int64(offset) }

    /// The stream offset of a byte of the file.
    package func offset(of position: Int64) -> StreamOffset { StreamOffset(position - base) }

    /// Maximum number of a file's first bytes that are hashed.
    package static let longestHead = 4096

    /// Whether the file is gone, or contains something else.
    package var isGone: Bool { inode == 0 }

    /// Records that the file is gone.
    package mutating func lose() { inode = 0 }
  }

  /// The rules that mask the stream for sending, from an offset on.
  public struct RedactionEpoch: Sendable, Hashable, Codable {
    /// Stream offset of the first byte that the rules bind.
    public var from: StreamOffset
    /// Version of the rule set.
    public var rules: String

    /// Makes an epoch.
    public init(from: StreamOffset, rules: String) {
      self.from = from
      self.rules = rules
    }
  }

  /// The crash card: the first facts that a person wants about a crash.
  public struct Crash: Sendable, Equatable, Codable {
    /// The path of the program's core dump, for a person; nil if there is none.
    public var core: String?
    /// The last lines of the log as sent, redacted; in a seal only.
    public var lines: [String]?

    /// Makes a card.
    public init(core: String? = nil, lines: [String]? = nil) {
      self.core = core
      self.lines = lines
    }
  }

  /// A stream that the store had before the file was rewritten, and still has.
  public struct FormerStream: Sendable, Equatable, Codable {
    /// Its generation.
    public var generation: Int
    /// Its length in bytes.
    public var length: StreamOffset
    /// When the next generation took its place.
    public var until: Timestamp

    /// Describes a former stream.
    public init(generation: Int, length: StreamOffset, until: Timestamp) {
      (self.generation, self.length, self.until) = (generation, length, until)
    }
  }

  /// A signature, which proves that a seal is as the device wrote it.
  public struct Signature: Sendable, Equatable, Codable {
    /// The signer's id, derived from the key.
    public var by: String
    /// The key that verifies it, `ed25519:<base64>`.
    public var key: String
    /// The signature, in base64.
    public var sig: String
    /// When the key was created: all seals of later sessions are signed.
    public var since: Timestamp

    /// Makes a signature from its parts.
    public init(by: String, key: String, sig: String, since: Timestamp) {
      (self.by, self.key, self.sig, self.since) = (by, key, sig, since)
    }
  }

  /// The session.
  public var sessionId: SessionID
  /// Name of the log file; for an attached file its first path.
  public var fileName: String
  /// The format of the log.
  public var format: LogFormat
  /// The user who ran the program.
  public var userId: String
  /// Number of the user whose home the session was sent from, as verified by a machine's upload for
  /// all users; nil if each user uploads separately.
  public var uid: UInt32?
  /// A second id: hash of the credential's name.
  public var principal: String?
  /// The device.
  public var deviceId: String
  /// The device's name for people.
  public var deviceName: String
  /// Hardware model, if known.
  public var deviceModel: String?
  /// Name and version of the operating system.
  public var osVersion: String
  /// The program.
  public var appName: String
  /// Its version, if known.
  public var appVersion: String?
  /// Its build number, if known.
  public var buildNumber: String?
  /// Start.
  public var startedAt: Timestamp
  /// Time of the last change of this sidecar.
  public var lastUpdatedAt: Timestamp
  /// End; nil while it is open.
  public var endedAt: Timestamp?
  /// How it ended.
  public var status: SessionStatus
  /// Why it ended, if known.
  public var cause: ExitCause?
  /// The crash card; nil without a crash.
  public var crash: Crash?
  /// Length of the log.
  public var fileSizeBytes: ByteCount
  /// Bytes at the end of the log that the device lost before they were sent, 0 if their number is
  /// unknown, nil if none are known to be lost; in a seal only.
  public var lost: ByteCount?
  /// Scenarios that occur.
  public var scenarios: [String]
  /// Categories that occur, 64 at most.
  public var categories: [String]
  /// Number of records by level.
  public var levels: [String: Int]
  /// How far the server's clock was ahead of this machine's, in milliseconds; nil if unknown.
  public var clockOffset: Int64?
  /// The session that this one continues.
  public var continues: SessionID?
  /// The generation of the stream that counts; nil for the first.
  public var generation: Int?
  /// The streams that were sent before the file was rewritten, in order; nil if it was not.
  public var former: [FormerStream]?
  /// Generations of streams that are not in ``former`` any more because the store lost them, in
  /// order; nil if it lost none.
  public var givenUp: [Int]?
  /// SHA-256 of the stream, lower-case hex; in a seal only.
  public var digest: String?
  /// File names of segments of earlier generations: those that ``objects`` copy from, and those of
  /// the ``former`` streams; in a seal only.
  public var basis: [String]?
  /// File names of the segments that hold the stream, in order; in a seal only.
  public var objects: [String]?
  /// Hashes of the indexes of ``objects`` and then of ``basis``, nil for an unknown one; in a seal
  /// only, and not in those of version 0.1.
  public var indexes: [String?]?
  /// File name of the previous revision, which may be gone; in a seal only.
  public var previous: String?
  /// The device's signature; in a seal only, and not in all.
  public var signature: Signature?

  /// ``Consent/metadata`` if the log is not sent, or not beyond the part that the store has; nil if
  /// it is sent.
  public var consent: Consent?
  /// Which rules redacted the stream, in order; bytes before the first were sent unchanged.
  public var redaction: [RedactionEpoch]?
  /// Amount masked, by kind; in a seal only.
  public var redacted: [String: Int]?

  /// Local only: the process that writes it.
  public var recorder: Recorder?
  /// Local only: the record of its seal.
  public var seal: Seal?
  /// Local only: the foreign file it reads; nil for a session recorded here.
  public var source: Source?
  /// Local only: the moment of its seal, from which its age counts; nil if that was not counted.
  public var agesFrom: LivedTime.Mark?
  /// Local only: the generation before which the store has bytes that the rules now mask; nil if
  /// none had to be masked later.
  public var erasesBefore: Int?
  /// Local only: when its remote copy was deleted on purpose.
  public var remoteReapedAt: Timestamp?

  /// Makes the sidecar of a session that starts now.
  public init(
    id: SessionID, device: Device, appName: String, appVersion: String? = nil,
    buildNumber: String? = nil, recorder: Recorder?, startedAt: Timestamp
  ) {
    sessionId = id
    fileName = "\(id).log"
    format = .lines
    userId = Account.current.name
    deviceId = device.deviceId
    deviceName = device.deviceName
    deviceModel = device.deviceModel
    osVersion = device.osVersion
    self.appName = appName
    self.appVersion = appVersion
    self.buildNumber = buildNumber
    self.startedAt = startedAt
    lastUpdatedAt = startedAt
    status = .active
    fileSizeBytes = 0
    scenarios = []
    categories = []
    levels = [:]
    self.recorder = recorder
  }

  /// Makes the sidecar of a session that reads a foreign file.
  ///
  /// - Parameters:
  ///   - id: a new id.
  ///   - device: this device.
  ///   - source: the file.
  ///   - appName: the program that writes it.
  ///   - userId: the user that the program runs as.
  ///   - startedAt: when the file began.
  public init(
    id: SessionID, device: Device, source: Source, appName: String, userId: String,
    startedAt: Timestamp
  ) {
    self.init(id: id, device: device, appName: appName, recorder: nil, startedAt: startedAt)
    self.source = source
    self.userId = userId
    fileName = source.path
    format = .asIs
  }

  /// Makes a substitute for a lost or damaged sidecar.
  ///
  /// - Parameters:
  ///   - id: the session.
  ///   - device: this device.
  ///   - owner: the device that recorded it, if another one.
  ///   - status: how it ended, if known.
  public static func reconstructed(
    id: SessionID, device: Device, owner: String? = nil, status: SessionStatus = .active
  ) -> Sidecar {
    var sidecar = Sidecar(
      id: id, device: device, appName: "unknown", recorder: nil, startedAt: id.startedAt)
    if let owner, owner != device.deviceId {
      sidecar.deviceId = owner
      sidecar.deviceName = "unknown"
      sidecar.deviceModel = nil
      sidecar.osVersion = "unknown"
      sidecar.userId = "unknown"
    }
    sidecar.status = status
    return sidecar
  }

  /// Whether the session crashed, or its program reported failure.
  package var hasFailed: Bool { status == .crashed || cause?.isFailure == true }
}
