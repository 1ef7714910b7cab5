package import Platform
import SessionLog

extension RemoteSession {
  /// A hold as the store lists it.
  ///
  /// Whoever may write to the store can put a name with any date: a hold lasts no longer than one
  /// that was requested when its object was written.
  package struct Hold: Sendable, Hashable {
    /// Its name.
    package let name: HoldName
    /// When its object was written; nil if the store does not say: then the name's day counts.
    let written: ServerTime?

    /// Describes a listed hold.
    package init(name: HoldName, written: ServerTime?) {
      (self.name, self.written) = (name, written)
    }

    /// The last day on which it counts, `2027-02-20`.
    package var day: String {
      guard let written else { return name.day }
      let latest = written + Holds.longest
      return min(name.day, Timestamp(milliseconds: latest.milliseconds).day)
    }

    /// Whether it applies at a time.
    package func holds(at time: ServerTime) -> Bool {
      Timestamp(milliseconds: time.milliseconds).day <= day
    }
  }
}
