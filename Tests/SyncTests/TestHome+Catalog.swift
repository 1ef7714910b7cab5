import Platform
import SessionReading
import Sync
import TestSupport

extension TestHome {
  /// The sessions of this home, and of a store.
  func catalog(_ context: SyncContext) -> SessionCatalog {
    var reading = ReadingContext(home: home, device: device, machine: ShiftedTime.machine)
    reading.store = context.store
    reading.uploaded = { try context.manifest.sentBytes(of: $0) }
    return SessionCatalog(reading)
  }
}
