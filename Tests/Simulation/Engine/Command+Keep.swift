import LogRecords
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// Commands for a person who wants to keep a log longer, or restore it.
extension Command {
  func keep(_ number: Int) async throws -> String {
    try await context { context in
      guard let lock = try lock() else { return "locked" }
      let entries = try await catalog(context.store).entries(devices: [context.device.deviceId])
      guard !entries.isEmpty else { return "nothing to keep" }
      let entry = entries[number % entries.count]
      _ = try Holds(home).keep(entry.session, for: Holds.longest, context.lived, holding: lock)
      if let remote = entry.remote {
        try await RemoteHold(context).keep(remote, for: Holds.longest)
      }
      try context.saveLivedTime(holding: lock)
      return "keeps \(entry.session)"
    }
  }

  func restore(_ number: Int) async throws -> String {
    let lived = try LivedClock(home: home, machine: machine)
    let mark = lived.time.mark
    let trashed = try Trash(home).sessions(at: mark).keys.sorted()
    if let session = trashed.isEmpty ? nil : trashed[number % trashed.count] {
      guard let lock = try lock() else { return "locked" }
      defer { try? lived.save(holding: lock) }
      return "restored \(session) \(try Trash(home).restore(session, at: mark, holding: lock))"
    }
    let catalog = try catalog(store)
    let device = catalog.context.device
    let entries = try await catalog.entries(devices: [device.deviceId]).filter {
      !$0.hasLocalLog && $0.remote != nil && oracle.written($0.session) != nil
    }
    guard !entries.isEmpty else { return "nothing to restore" }
    let entry = entries[number % entries.count]
    let reader = try SessionReader(entry, side: .remote, in: catalog) { _ in }
    let restorer = SessionRestorer(into: home, device: device, machine: machine)
    let stream = oracle.newStream()
    let restored = try await restorer.restore(
      entry.sidecar, length: reader.length.byteCount, agingFrom: mark, locking: requireLock
    ) { write in
      _ = try await reader.read(RecordChoice(RecordFilter()), .verified) { piece in
        stream.withLock { $0 += piece }
        try write(piece)
      }
    }
    if !process.isDead { oracle.begin(restored, stream, isWithheld: consent == .metadata) }
    return "restored \(entry.session) as \(restored)"
  }

  /// Another process holds the home's lock.
  private struct Busy: Error {}

  private func requireLock() throws -> HomeLock {
    guard let lock = try lock() else { throw Busy() }
    return lock
  }
}
