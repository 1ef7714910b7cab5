import ObjectStore
package import Platform
package import SessionLog

/// A home's lived time during one command: loaded once, counted in memory, saved by passes.
package final class LivedClock: Sendable {
  let home: Home
  private let machine: Machine
  private let state: Guarded<State>
  /// The start of this command.
  let begun: LivedTime.Mark

  private struct State {
    var time: LivedTime
    /// The saved lived time; nil if there is no readable file.
    var saved: LivedTime?
  }

  /// Lived time between saves; what is not saved is counted from the boot time, or credited by the
  /// next boot.
  private static let interval = Duration.hours(1)

  /// Loads a home's lived time; a lost or damaged count starts again.
  ///
  /// - Throws: ``Platform/SystemError`` when the file cannot be read.
  package init(home: Home, machine: Machine) throws {
    (self.home, self.machine) = (home, machine)
    let saved = try LivedTime.load(home)
    let reading = LivedTime.Reading(machine)
    var time = saved ?? LivedTime(at: reading, random: machine.random)
    time.advance(to: reading)
    state = Guarded(State(time: time, saved: saved))
    begun = time.mark
  }

  /// The wall clock's time.
  var now: Timestamp { machine.now() }

  /// The home's lived time now.
  package var time: LivedTime { update { $0 } }

  /// This moment, to be saved; see ``SessionLog/LivedTime/markToSave()``.
  package func markToSave() -> LivedTime.Mark { update { $0.markToSave() } }

  /// Lived time since a session's seal if counted, else since a date of the wall clock; nil if
  /// neither is known.
  func age(of sidecar: Sidecar, since date: Timestamp) -> Duration? {
    let time = time
    return sidecar.agesFrom.flatMap { time.age(since: $0) } ?? time.age(since: date)
  }

  /// Minimum lived time since a date that a store gave; nil if it is in the future, or from a clock
  /// that was never set.
  func age(since date: ServerTime, in store: any ObjectStore) -> Duration? {
    time.age(since: date, by: store.isFolder ? LivedTime.wallClock : store.location)
  }

  /// Records a store's date; that of a folder is this machine's.
  ///
  /// - Parameter isServers: whether the server gave the date, rather than this machine for lack of
  ///   one.
  func recordServerDate(_ date: ServerTime, from store: any ObjectStore, isServers: Bool = true) {
    guard !store.isFolder else { return }
    let isElsewhere = isServers && !store.isOnThisMachine
    update { $0.hear(date, from: store.location, isElsewhere: isElsewhere) }
  }

  /// See ``SessionLog/LivedTime/pause(ofBoldPlan:on:)``.
  func pause(ofBoldPlan isBold: Bool, on side: String) -> (rest: Duration, isNew: Bool) {
    update { $0.pause(ofBoldPlan: isBold, on: side) }
  }

  private func update<Value>(_ body: (inout LivedTime) -> Value) -> Value {
    state.withLock { state in
      state.time.advance(to: LivedTime.Reading(machine))
      return body(&state.time)
    }
  }

  /// Saves it durably if enough was counted, or anything decided, since the last time.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func save(holding lock: HomeLock) throws {
    lock.expect(home)
    let time = time
    let saved = state.withLock { $0.saved }
    if let saved, !time.differs(from: saved, by: Self.interval) { return }
    try time.save(home)
    state.withLock { $0.saved = time }
  }
}

extension Holds {
  /// Holds a session from now on, replacing an earlier hold; see
  /// ``SessionLog/Holds/keep(_:for:from:now:holding:)``.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func keep(
    _ session: SessionID, for duration: Duration, _ lived: LivedClock, holding lock: HomeLock
  ) throws -> Hold {
    let mark = lived.markToSave()
    try lived.save(holding: lock)
    return try keep(session, for: duration, from: mark, now: lived.now, holding: lock)
  }
}
