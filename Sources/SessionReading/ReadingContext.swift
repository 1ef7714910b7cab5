package import ObjectStore
package import Platform
package import Redaction
package import Replica
package import SessionLog

/// The dependencies for finding sessions: a home, this device and, optionally, a store.
package struct ReadingContext: Sendable {
  /// The home.
  package let home: Home
  /// This device.
  package let device: Device
  /// Distinguishes live recorders from dead ones, and gives the time.
  package let machine: Machine
  /// The store to search as well; nil for local sessions only.
  package var store: (any ObjectStore)?
  /// Stream bytes of a session known to be in the store without a request; nil if unknown.
  package var uploaded: @Sendable (SessionID) throws -> StreamOffset? = { _ in nil }
  /// How far the server's clock is ahead of this machine's; nil if unknown.
  package var clockOffset: @Sendable () -> Duration? = { nil }
  /// Called with lines for a person.
  package var report: @Sendable (String) -> Void = { _ in }

  /// The keys that revisions must be signed with; nil to skip that check.
  package var keys: KnownKeys?
  /// Masks this machine's logs and sidecars as for sending; nil to read them as they are.
  package var redactor: Redactor?

  /// Makes a context for local sessions.
  package init(home: Home, device: Device, machine: Machine) {
    self.home = home
    self.device = device
    self.machine = machine
  }

  /// The current time.
  package func now() -> Timestamp { machine.now() }

  /// The same without the store.
  package var withoutStore: ReadingContext {
    var context = self
    context.store = nil
    return context
  }
}
