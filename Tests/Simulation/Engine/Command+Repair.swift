import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync
import TestSupport
import TidemarkUpload

/// Commands that change what was sent.
extension Command {
  func repair() async throws -> String {
    try await context { context in
      guard let lock = try lock() else { return "locked" }
      let catalog = try catalog(context.store)
      var broken: [SessionID] = []
      for entry in try await catalog.entries(devices: context.device.ids) {
        guard entry.remote != nil || entry.sidecar.seal?.store == context.store.location else {
          continue
        }
        guard let remote = entry.remote else {
          broken.append(entry.session)
          continue
        }
        if try await Verifier(context).verify(remote).problem != nil {
          broken.append(entry.session)
        }
      }
      guard !broken.isEmpty else { return "whole" }
      let report = try await Repair(context).run(broken, holding: lock) { _, _ in }
      return "repaired \(broken.count) objects \(report.objects)"
    }
  }

  func retry(_ number: Int) async throws -> String {
    try await context { context in
      guard let lock = try lock() else { return "locked" }
      let uploader = Uploader(context)
      let waiting = try uploader.waiting().sessions.map(\.session)
      try uploader.retryStore(holding: lock)
      for session in waiting { try uploader.retry(session, holding: lock) }
      let removed = try uploader.removed { _ in true }
      guard !removed.isEmpty else { return "released \(waiting.count)" }
      let session = removed[number % removed.count]
      let isReleased = try uploader.retry(session, holding: lock)
      return "released \(waiting.count), \(session) \(isReleased)"
    }
  }

  func redact() async throws -> String {
    try await context { context in
      guard context.consent == .logs, let lock = try lock() else { return "locked" }
      let catalog = try catalog(nil)
      let sessions = try await catalog.entries(devices: [context.device.deviceId]).map(\.session)
      let pass = RemoteRedactionPass(context)
      let items = try await pass.plan(sessions.reversed()) { _, _ in }
      let report = try await pass.run(items, holding: lock)
      return "redacted \(items.count) objects \(report.objects)"
    }
  }

  func delete(_ number: Int, isLocal: Bool, isRemote: Bool) async throws -> String {
    try await context { context in
      guard let lock = try lock() else { return "locked" }
      let entries = try await catalog(context.store).entries(devices: [context.device.deviceId])
      let ended = entries.filter { !$0.isRunning }
      guard !ended.isEmpty else { return "nothing to delete" }
      let entry = ended[number % ended.count]
      let deletion = Deletion(
        home: home, context: context, lived: context.lived, command: "delete")
      do {
        try deletion.expectNoHold(on: entry.session, entry.remote)
      } catch is HeldSession {
        return "kept"
      }
      oracle.ask(for: entry.session)
      if oracle.written(entry.session) == nil {
        try retireLines(of: entry.session, entry.sidecar.source)
      }
      let outcomes = try await deletion.delete(
        entry.session, local: isLocal && entry.location != .remote,
        remote: isRemote ? entry.remote : nil, holding: lock)
      return "deleted \(entry.session): \(outcomes.count)"
    }
  }

  /// Counts an attached session's lines as deleted, in its file, in a rotation's copies of it, and where
  /// the home has them.
  ///
  /// - Parameter source: nil if its sidecar is lost: then it may have read any file.
  private func retireLines(of session: SessionID, _ source: Sidecar.Source?) throws {
    let log = home.files(for: session).log
    if File.exists(log) { oracle.retire(LineNumber.all(in: try AtomicFile.read(log))) }
    for path in try ForeignFile.paths(in: logs) {
      let content = try AtomicFile.read(path)
      if let source {
        let start = path.hasSuffix(".zst") ? ZstdFrame.headerLength : 0
        let head = Array(content.dropFirst(start).prefix(source.headLength))
        guard path == source.path || Sidecar.Source.headHash(of: head) == source.headHash
        else { continue }
      }
      oracle.retire(LineNumber.all(in: content))
    }
  }
}
