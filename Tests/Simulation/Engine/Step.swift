/// One event in a history.
///
/// It names homes, sessions, files and objects by numbers modulo their count: so every step is
/// meaningful in every history, and steps can be dropped.
package struct Step: Hashable, Sendable {
  /// The action.
  package var action: Action
  /// A concurrent action.
  package var beside: Action?
  /// Seed for everything left open.
  package var seed: UInt64
  /// Faults in calls to the store.
  package var faults: [PlannedFault]
  /// Number of effects on files and the store after which the first process dies; nil for never.
  package var death: Int?

  /// Describes a step.
  package init(
    _ action: Action, beside: Action? = nil, seed: UInt64 = 1, faults: [PlannedFault] = [],
    death: Int? = nil
  ) {
    self.action = action
    self.beside = beside
    self.seed = seed
    self.faults = faults
    self.death = death
  }
}

/// The actions of a step.
package enum Action: Hashable, Sendable {
  // Programs.

  /// A recorder begins a session.
  case start(home: Int)
  /// A recorded program prints about this number of bytes; a step's death is its recorder's.
  case write(home: Int, session: Int, bytes: Int)
  /// A recorded program ends.
  case end(home: Int, session: Int)
  /// A recorder is killed.
  case kill(home: Int, session: Int)
  /// Another program appends this number of lines to its log.
  case append(home: Int, file: Int, lines: Int)
  /// It appends lines to the log that was rotated last.
  case appendLate(home: Int, file: Int, lines: Int)
  /// Its log is rotated.
  case rotate(home: Int, file: Int, Rotation)
  /// It is rotated so many times, each after a few lines, or none.
  case nights(home: Int, file: Int, count: Int, Rotation)
  /// Its log is changed in the middle.
  case rewrite(home: Int, file: Int)
  /// Its log is deleted.
  case unlink(home: Int, file: Int)

  // Commands.

  /// `upload`, from cron.
  case upload(home: Int)
  /// Root's `upload`, of all homes that are on a home's machine.
  case round(home: Int)
  /// `reap`, with an age in seconds that a person named.
  case reap(home: Int, olderThan: Int64?, isRemote: Bool)
  /// `reap` in an environment without the store.
  case reapWithoutStore(home: Int)
  /// `pull`, into the home's mirror.
  case pull(home: Int)
  /// `verify --repair`.
  case repair(home: Int)
  /// `redact --apply-remote`.
  case redact(home: Int)
  /// `delete`, of a session's copies.
  case delete(home: Int, session: Int, isLocal: Bool, isRemote: Bool)
  /// `show`.
  case read(home: Int, session: Int)
  /// `keep`, for ten years.
  case keep(home: Int, session: Int)
  /// `restore`, of a session that is only in the trash or in the store.
  case restore(home: Int, session: Int)
  /// `retry`, of all that waits, and of a session whose remote copy was deleted.
  case retry(home: Int, session: Int)

  // The world.

  /// Time passes, in seconds.
  case pass(seconds: Int64)
  /// A machine's wall clock is set forward or back, in seconds.
  case step(home: Int, seconds: Int64)
  /// A machine's clock is corrected.
  case setRight(home: Int)
  /// The server's clock is set forward or back, in seconds.
  case stepServer(seconds: Int64)
  /// A machine restarts.
  case reboot(home: Int, losesTime: Bool)
  /// A machine loses power, and restarts.
  case cutPower(home: Int)
  /// A backup of a home is made.
  case snapshot(home: Int)
  /// A home is restored from its backup, in the same boot or a new one.
  case rollBack(home: Int, reboots: Bool)
  /// A copy of a home is used independently, with the same machine id or another.
  case clone(home: Int, keepsMachineId: Bool)
  /// Other programs fill a machine's disk up to so many bytes.
  case fill(home: Int, room: Int)
  /// Every so many changes to a machine's files, one fails.
  case fail(home: Int, every: Int)
  /// A machine's disk has room again, and fails no more.
  case recover(home: Int)
  /// All commands in a home fail from now on: another process holds its lock, or a folder has
  /// replaced its device record.
  case obstruct(home: Int, isLocked: Bool)
  /// A part of a home is lost.
  case lose(home: Int, Part)
  /// Parts of recorded logs that were lost are there again.
  case putBack(home: Int)
  /// A letter of a sealed log is changed by a person, or its second half is removed.
  case edit(home: Int, session: Int, isCut: Bool = false)
  /// A machine gets another id, or none.
  case identify(home: Int, id: Int?)
  /// The configured consent changes.
  case consent(home: Int, allowsLogs: Bool)
  /// Another set of redaction rules is configured.
  case rules(home: Int, Int)
  /// Another local retention is configured, in seconds.
  case retain(home: Int, seconds: Int64)

  // The store.

  /// A share is unmounted.
  case unmount
  /// It is mounted.
  case mount
  /// Everything in the store is deleted.
  case empty
  /// An object is deleted by someone else.
  case remove(object: Int)
  /// The store refuses all objects of a session being recorded, permanently or until the end of the
  /// history.
  case refuse(home: Int, session: Int, isLasting: Bool)
  /// Another program writes an object under a name of the layout.
  case forge(object: Int, Forgery)

  /// How a log is rotated.
  package enum Rotation: String, Hashable, Sendable, CaseIterable {
    /// Renamed, and created again.
    case create
    /// Copied, and truncated.
    case copyTruncate
    /// Renamed, compressed, and created again.
    case compress
    /// Renamed, and created again; the one before it is compressed.
    case delayCompress
  }

  /// An object written by another program.
  package enum Forgery: String, Hashable, Sendable, CaseIterable {
    /// An object with a name outside the layout.
    case foreign
    /// A segment's bytes and one more, under a name that fits them.
    case otherSize
    /// A segment with other bytes, under the name of an existing one.
    case otherText
    /// The first half of a segment's bytes in its place.
    case cut
    /// A newer revision that ends the session before its last object, and that nobody signed.
    case revision
    /// An earlier revision, under a number after the newest one.
    case replay
  }

  /// A part of a home.
  package enum Part: String, Hashable, Sendable, CaseIterable {
    case device, cache, open, lived, stores, sidecar
    /// What the uploader knows of an unsealed session.
    case uploadState
    /// The rule sets that redacted logs.
    case rules
    /// A rotated part of a recorded log, which may be put back.
    case part
  }
}
