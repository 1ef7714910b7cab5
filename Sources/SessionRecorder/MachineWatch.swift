package import LogRecords
package import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Notices events of the machine during a session: sleep, and the loss and return of its network.
package struct MachineWatch {
  /// Two clocks, of which only the second advances while the machine sleeps.
  package typealias Clocks = @Sendable () -> (awake: Duration, always: Duration)

  private let clocks: Clocks
  private let isOnline: @Sendable () -> Bool
  private var slept: Duration
  private var wasOnline: Bool
  /// The last check, in the awake clock, and the last one of the network.
  private var checkedAt: (machine: Timestamp, network: Duration)

  /// The shortest sleep that counts, because clocks are adjusted.
  private static let shortest = Duration.seconds(2)
  /// How often the network is checked.
  private static let networkInterval = Duration.seconds(5)

  /// Starts to watch.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - clocks: by default the machine's.
  ///   - isOnline: whether there is a network; by default the machine's.
  package init(
    now: Timestamp, clocks: @escaping Clocks = Self.machineClocks,
    isOnline: @escaping @Sendable () -> Bool = Self.hasNetwork
  ) {
    self.clocks = clocks
    self.isOnline = isOnline
    let (awake, always) = clocks()
    slept = always - awake
    wasOnline = isOnline()
    checkedAt = (now, awake)
  }

  /// The events since the last call, with their times.
  ///
  /// Call it about once a second.
  package mutating func poll(at now: Timestamp) -> [(event: SessionEvent, time: Timestamp)] {
    var events: [(SessionEvent, Timestamp)] = []
    let (awake, always) = clocks()
    let more = always - awake - slept
    if more >= Self.shortest {
      events.append((.background("asleep"), checkedAt.machine))
      events.append((.foreground("awake after \(more.seconds) s"), now))
    }
    // Only sleep increases the difference, but small adjustments add up.
    if more >= Self.shortest || more < .zero { slept = always - awake }
    checkedAt.machine = now
    if awake - checkedAt.network >= Self.networkInterval {
      checkedAt.network = awake
      let online = isOnline()
      if online != wasOnline { events.append((online ? .networkBack : .networkLost, now)) }
      wasOnline = online
    }
    return events
  }

  /// The machine's clocks.
  package static let machineClocks: Clocks = {
    #if canImport(Darwin)
      // There the monotonic clock advances during sleep, and the uptime does not.
      (time(CLOCK_UPTIME_RAW), time(CLOCK_MONOTONIC_RAW))
    #else
      (time(CLOCK_MONOTONIC), time(CLOCK_BOOTTIME))
    #endif
  }

  private static func time(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .milliseconds(Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Whether an interface other than the loopback is up and has an address.
  package static let hasNetwork: @Sendable () -> Bool = {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return true }
    defer { freeifaddrs(first) }
    for entry in sequence(first: first, next: { $0?.pointee.ifa_next }) {
      guard let interface = entry?.pointee else { break }
      let flags = Int32(bitPattern: interface.ifa_flags)
      let wanted = Int32(IFF_UP) | Int32(IFF_RUNNING)
      guard flags & wanted == wanted, flags & Int32(IFF_LOOPBACK) == 0,
        let family = interface.ifa_addr?.pointee.sa_family
      else { continue }
      if Int32(family) == AF_INET || Int32(family) == AF_INET6 { return true }
    }
    return false
  }
}
