import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Deletes objects of a store.
extension Deleter {
  /// Deletes objects of a store.
  ///
  /// - Parameters:
  ///   - lock: the home's lock.
  ///   - isKept: called before each session's objects; a reason keeps them.
  ///   - each: called with the outcomes of each session's objects.
  /// - Returns: one outcome per object.
  /// - Throws: ``ObjectStore/StoreError`` when the whole request fails; ``Platform/SystemError``
  ///   when the ledger cannot be written.
  @discardableResult
  func deleteObjects(
    _ removals: [ReapPlan.Removal], holding lock: HomeLock,
    unless isKept: (ReapPlan.Removal) async throws -> String? = { _ in nil },
    each: (ReapPlan.Removal, [DeleteOutcome]) throws -> Void = { _, _ in }
  ) async throws -> [DeleteOutcome] {
    guard let store else { return [] }
    lock.expect(home)
    let recorded = try record(
      removals.map { entry($0, .remote, what: "\($0.keys.count) objects") })
    var outcomes: [DeleteOutcome] = []
    for (index, removal) in removals.enumerated() {
      let new: [DeleteOutcome]
      do {
        if let reason = try await isKept(removal) {
          recorded.failed(
            entry(removal, .remote, what: "\(removal.keys.count) objects"), Spared(reason))
          continue
        }
        new = try await store.delete(removal.keys)
      } catch {
        for removal in removals[index...] {
          recorded.failed(
            entry(removal, .remote, what: "\(removal.keys.count) objects"), error)
        }
        throw error
      }
      logger.info(
        "\(removal.session): \(removal.keys.count) objects deleted: \(removal.evidence.finding)")
      let failures = new.compactMap(\.error)
      if let first = failures.first {
        recorded.failed(entry(removal, .remote, what: "\(failures.count) objects"), first)
      } else {
        recorded.succeeded(entry(removal, .remote, what: "\(removal.keys.count) objects"))
      }
      try each(removal, new)
      outcomes += new
    }
    return outcomes
  }

  /// Deletes segments of an open session that larger ones cover.
  ///
  /// - Parameters:
  ///   - segments: at least one, each with its evidence.
  ///   - lock: the home's lock.
  /// - Returns: one outcome per segment, in their order.
  /// - Throws: like ``deleteObjects(_:holding:unless:each:)``.
  func deleteCovered(
    _ segments: [(name: SegmentName, evidence: Evidence)], in folder: SessionFolder,
    holding lock: HomeLock
  ) async throws -> [DeleteOutcome] {
    guard let first = segments.first, let last = segments.last else { return [] }
    let keys = segments.map { folder.key + $0.name.fileName }
    let remote = RemoteSession(folder: folder, session: first.name.session)
    let evidence = segments.count == 1 ? first.evidence : first.evidence.through(last.evidence)
    return try await deleteObjects(
      [.init(remote, keys: keys, evidence: evidence, reason: "larger objects cover them")],
      holding: lock)
  }
}

/// Why an object stays that was about to be deleted.
private struct Spared: Error, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = reason }
}
