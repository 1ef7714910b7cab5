import ObjectStore
import Platform
import Replica
import SessionLog

extension SessionUpload {
  /// Deletes what the covering segments of an earlier pass have taken the place of, once the content
  /// of these is proven.
  ///
  /// What cannot be deleted is told and stays until more is covered.
  ///
  /// - Throws: errors of the manifest; ``ReplicaError`` when a covering segment cannot be proven;
  ///   `CancellationError`.
  func removeCovered(
    _ entry: inout ManifestEntry, _ log: LocalStream, _ sidecar: Sidecar
  ) async throws {
    let known = RemoteSession(
      folder: folder, session: session, segments: Array(entry.segments.keys))
    let needed = known.cover(upTo: entry.sent, of: entry.generation)
    func cover(of name: SegmentName) -> SegmentName? { needed.first { $0.holds(name) } }
    let covered = known.segments(of: entry.generation).filter {
      !needed.contains($0) && cover(of: $0) != nil
    }
    guard !covered.isEmpty else { return }
    do {
      let listed = try await FolderListing(folder, session: session, in: context.store)[
        session, in: folder]
      guard Set(needed).isSubset(of: listed.segments) else { return }
      for name in Set(covered.compactMap(cover)) where entry.segments[name] != true {
        try await ObjectProof(writer).readBack(name, log, sidecar)
        entry.segments[name] = true
      }
      let removals = try covered.map { name in
        let larger = cover(of: name) ?? name
        let evidence = try Evidence.replaced(
          name, by: larger, isProven: entry.segments[larger] == true)
        return (name, evidence)
      }
      let outcomes = try await Deleter(context).deleteCovered(removals, in: folder)
      for (name, outcome) in zip(covered, outcomes) {
        if let error = outcome.error { throw error }
        entry.segments[name] = nil
      }
    } catch let error as StoreError where !error.endsPass {
      report(.leftBehind(session: session, reason: "\(error)"))
    }
    try context.manifest.save(&entry, of: session)
  }
}
