/// One thing that happens in a history.
///
/// It names homes, sessions, files and objects by numbers, which are taken modulo how many there are:
/// so every step means something in every history, and steps can be left out.
package struct Step: Hashable, Sendable {
  /// What happens.
  package var action: Action
  /// What happens at the same time.
  package var beside: Action?
  /// Decides everything that is left open.
  package var seed: UInt64
  /// What goes wrong with calls to the store.
  package var faults: [PlannedFault]
  /// After how many effects on files and the store the first process dies; nil for never.
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

/// What happens in a step.
package enum Action: Hashable, Sendable {
  // Programs.

  /// A recorder begins a session.
  case start(home: Int)
  /// A recorded program prints about so many bytes; a step's death is that of its recorder.
  case write(home: Int, session: Int, bytes: Int)
  /// A recorded program ends.
  case end(home: Int, session: Int)
  /// A recorder is killed.
  case kill(home: Int, session: Int)
  /// Another program appends so many lines to its log.
  case append(home: Int, file: Int, lines: Int)
  /// Its log is rotated.
  case rotate(home: Int, file: Int, Rotation)
  /// Its log is changed in the middle.
  case rewrite(home: Int, file: Int)
  /// Its log is deleted.
  case unlink(home: Int, file: Int)

  // Commands.

  /// `upload`, from cron.
  case upload(home: Int)
  /// Root's `upload`, of all homes that are on a home's machine.
  case round(home: Int)
  /// `reap`, with an age in seconds that somebody named.
  case reap(home: Int, olderThan: Int64?, isRemote: Bool)
  /// `reap` where the environment lacks the store.
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
  /// `restore`, of a session that is in the trash or in the store alone.
  case restore(home: Int, session: Int)

  // The world.

  /// Time passes, in seconds.
  case pass(seconds: Int64)
  /// A machine's wall clock is set to another time, in seconds from the one that it shows.
  case step(home: Int, seconds: Int64)
  /// A machine's clock is set right.
  case setRight(home: Int)
  /// The server's clock is set to another time, in seconds.
  case stepServer(seconds: Int64)
  /// A machine starts again.
  case reboot(home: Int, losesTime: Bool)
  /// A machine loses its power, and starts again.
  case cutPower(home: Int)
  /// A backup of a home is made.
  case snapshot(home: Int)
  /// A home is set back to its backup, in the same boot or with a new one.
  case rollBack(home: Int, reboots: Bool)
  /// A copy of a home begins a life of its own, on the same machine id or on another.
  case clone(home: Int, keepsMachineId: Bool)
  /// All commands in a home fail from now on: another process holds its lock, or a folder has taken
  /// the place of its device record.
  case obstruct(home: Int, isLocked: Bool)
  /// A part of a home is lost.
  case lose(home: Int, Part)
  /// A machine gets another id, or none.
  case identify(home: Int, id: Int?)
  /// What the configuration allows is changed.
  case consent(home: Int, allowsLogs: Bool)
  /// Another set of redaction rules is configured.
  case rules(home: Int, Int)
  /// Another time is configured for which local copies stay, in seconds.
  case retain(home: Int, seconds: Int64)

  // The store.

  /// A share is unmounted.
  case unmount
  /// It is mounted.
  case mount
  /// Everything in the store is deleted.
  case empty
  /// Somebody deletes an object.
  case remove(object: Int)
  /// The store refuses all objects of a session that is being recorded, for good or until the end of
  /// the history.
  case refuse(home: Int, session: Int, isLasting: Bool)
  /// Somebody with other software writes an object under a name of the layout.
  case forge(object: Int, Forgery)

  /// How a log is rotated.
  package enum Rotation: String, Hashable, Sendable, CaseIterable {
    /// Renamed, and begun anew.
    case create
    /// Copied, and emptied.
    case copyTruncate
    /// Renamed, compressed, and begun anew.
    case compress
  }

  /// What somebody else writes.
  package enum Forgery: String, Hashable, Sendable, CaseIterable {
    /// An object under a name that is none of the layout.
    case foreign
    /// A segment's bytes and one more, under the name that this has then.
    case otherSize
    /// A segment with other bytes, under the name of one that is there.
    case otherText
  }

  /// A part of a home.
  package enum Part: String, Hashable, Sendable, CaseIterable {
    case device, cache, open, lived, stores, sidecar
  }
}
