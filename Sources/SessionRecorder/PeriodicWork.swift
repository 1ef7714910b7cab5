import LogRecords
import Platform
import SessionLog

/// A recorder's periodic work, about once a second.
struct PeriodicWork {
  private let writer: SessionWriter?
  private let onSecond: (SessionActivity) -> Void
  private let machine: Machine
  private var watch: MachineWatch
  private var activity = SessionActivity()
  private var lastTick: Duration
  private var lastPass: Duration

  /// Starts the work.
  ///
  /// - Parameters:
  ///   - writer: the session; nil if there is none.
  ///   - machine: its clocks time the work.
  ///   - onSecond: called with the activity since the last call.
  init(
    of writer: SessionWriter?, on machine: Machine,
    _ onSecond: @escaping (SessionActivity) -> Void
  ) {
    self.writer = writer
    self.machine = machine
    self.onSecond = onSecond
    watch = MachineWatch(now: machine.now())
    lastTick = machine.uptime()
    lastPass = lastTick
  }

  /// Time to wait for output; unfinished lines of a terminal wait less.
  var wait: Duration { writer?.nextTick ?? .seconds(1) }

  mutating func record(_ event: SessionEvent, at time: Timestamp? = nil) {
    writer?.record(event, at: time)
    switch event {
    case .foreground, .networkBack: activity.isBack = true
    default: break
    }
  }

  mutating func pass() {
    let now = machine.uptime()
    guard now - lastTick >= wait else { return }
    lastTick = now
    writer?.tick()
    guard now - lastPass >= .seconds(1) else { return }
    lastPass = now
    for (event, time) in watch.poll(at: machine.now()) { record(event, at: time) }
    if let news = writer?.takeActivity() {
      activity.hasGrown = activity.hasGrown || news.hasGrown
      activity.hasError = activity.hasError || news.hasError
    }
    onSecond(activity)
    activity = SessionActivity()
  }
}
