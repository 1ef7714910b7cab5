import Platform

/// The room that the sessions of a home may take together, as one recorder knows it.
///
/// What is not proven to be in a store is never deleted to make room: a recorder that finds none left
/// writes no more, and says so, until a reaper has made some.
struct DiskQuota {
  /// How long a measurement counts.
  private static let period = Duration.seconds(10)

  private let home: Home
  private let limit: ByteCount
  private var used: ByteCount
  private var measuredAt: Timestamp

  /// Measures it.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - limit: how many bytes its sessions may take.
  ///   - time: now.
  init(_ home: Home, limit: ByteCount, at time: Timestamp) {
    self.home = home
    self.limit = limit
    // What cannot be read will not be written either.
    used = (try? home.sessionBytes()) ?? 0
    measuredAt = time
  }

  /// Whether there is none left.
  var isUsedUp: Bool { used >= limit }

  /// Counts bytes that were written.
  mutating func take(_ bytes: Int) { used += ByteCount(bytes) }

  /// Measures it again where that is due, a wrong clock included.
  mutating func measure(at time: Timestamp) {
    guard !(.zero..<Self.period).contains(time - measuredAt) else { return }
    self = DiskQuota(home, limit: limit, at: time)
  }
}
