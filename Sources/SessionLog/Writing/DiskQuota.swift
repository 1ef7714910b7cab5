import Platform

/// The disk space that a home's sessions may use together, as one recorder measures it.
///
/// Data not proven to be in a store is never deleted to free space: a recorder without space left
/// stops writing, and says so, until a reaper has freed some.
struct DiskQuota {
  /// How long a measurement counts.
  private static let period = Duration.seconds(10)

  private let home: Home
  private let limit: ByteCount
  private var used: ByteCount
  private var measuredAt: Timestamp

  /// Measures the space used.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - limit: maximum size of its sessions, in bytes.
  ///   - time: now.
  init(_ home: Home, limit: ByteCount, at time: Timestamp) {
    self.home = home
    self.limit = limit
    // If it cannot be read, it cannot be written either.
    used = (try? home.sessionBytes()) ?? 0
    measuredAt = time
  }

  /// Whether no space is left.
  var isUsedUp: Bool { used >= limit }

  /// Counts bytes written.
  mutating func use(_ bytes: Int) { used += ByteCount(bytes) }

  /// Measures again if due, also after the clock was set back.
  mutating func measure(at time: Timestamp) {
    guard !(.zero..<Self.period).contains(time - measuredAt) else { return }
    self = DiskQuota(home, limit: limit, at: time)
  }
}
