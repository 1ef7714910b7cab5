package import ObjectStore
package import Platform
package import Redaction
package import Replica
package import SessionLog

/// What sessions are looked for with: a home, this device and, where one is to be asked, a store.
package struct ReadingContext: Sendable {
  /// The home.
  package let home: Home
  /// This device.
  package let device: Device
  /// Tells living recorders from dead ones, and the time.
  package let machine: Machine
  /// The store to look at as well; nil for local sessions only.
  package var store: (any ObjectStore)?
  /// Stream bytes of a session that the store is known to have without being asked; nil where
  /// nothing is known.
  package var uploaded: @Sendable (SessionID) throws -> StreamOffset? = { _ in nil }
  /// How far the server's clock is ahead of this machine's; nil where no answer shows it.
  package var clockOffset: @Sendable () -> Duration? = { nil }

  /// What seals are signed with; nil where that is not asked.
  package var keys: KnownKeys?
  /// Masks what is read of this machine's logs and sidecars, as it leaves the machine; nil for what
  /// they say.
  package var redactor: Redactor?

  /// Makes a context for local sessions.
  package init(home: Home, device: Device, machine: Machine) {
    self.home = home
    self.device = device
    self.machine = machine
  }

  /// The time.
  package func now() -> Timestamp { machine.now() }

  /// The same without the store.
  package var withoutStore: ReadingContext {
    var context = self
    context.store = nil
    return context
  }
}
