/// A point in time by a server's clock, in milliseconds.
///
/// This machine's clock may show anything else at the same moment. So a server's time and a
/// ``Timestamp`` can be neither compared nor subtracted: such code does not compile. The only
/// conversions are the functions below, each of which names its assumption.
package struct ServerTime: ClockTime {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package let milliseconds: Int64

  /// Makes a time.
  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Orders by time.
  package static func < (left: ServerTime, right: ServerTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The day in UTC, as ``Timestamp/day``.
  package var day: String { Timestamp(milliseconds: milliseconds).day }

  /// How far the server's clock is ahead if it showed this time when this machine's clock showed
  /// that one.
  package func offset(from local: Timestamp) -> Duration {
    .milliseconds(saturatingDifference(milliseconds, local.milliseconds))
  }

  /// This machine's time at this moment.
  ///
  /// - Parameter offset: how far the server's clock is ahead of it.
  package func asLocal(offset: Duration) -> Timestamp {
    Timestamp(milliseconds: milliseconds) - offset
  }

  /// This machine's time at this moment if both clocks agree.
  ///
  /// Only for code that remains correct if they do not, and says why.
  package var assumingSynchronizedClocks: Timestamp { asLocal(offset: .zero) }
}

extension Timestamp {
  /// A server's time at this moment.
  ///
  /// - Parameter offset: how far the server's clock is ahead of this machine's.
  package func asServer(offset: Duration) -> ServerTime {
    ServerTime(milliseconds: milliseconds) + offset
  }

  /// A server's time at this moment if both clocks agree.
  ///
  /// Only for code that remains correct if they do not, and says why.
  package var assumingSynchronizedClocks: ServerTime { asServer(offset: .zero) }
}

extension ServerTime: Codable {
  /// Reads the form of a ``Timestamp``.
  package init(from decoder: any Decoder) throws {
    self.init(milliseconds: try Timestamp(from: decoder).milliseconds)
  }

  /// Writes the form of a ``Timestamp``.
  package func encode(to encoder: any Encoder) throws {
    try Timestamp(milliseconds: milliseconds).encode(to: encoder)
  }
}
