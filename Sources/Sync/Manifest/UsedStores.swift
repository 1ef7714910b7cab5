import Foundation
import GRDB
import Platform
package import SessionLog

/// The stores that this home has used; durable, unlike the manifest.
///
/// If a used store lacks its marker, it is not mounted, was emptied, or is another one; a new store
/// lacks the marker as well. This record distinguishes the two. The file is `stores.json`, a sorted
/// array of locations, which contain no credentials.
package struct UsedStores: Sendable, Equatable {
  /// The locations; nil if the file is corrupt, in which case any store may have been used.
  private var locations: Set<String>?
  /// Whether the home has a manifest from a version without this record.
  private var hasEarlierManifest = false

  /// Reads the record of a home.
  ///
  /// Without a record, a home has used the stores for which its manifest shows a success.
  ///
  /// - Throws: ``Platform/SystemError`` when the file exists but cannot be read.
  package static func load(_ home: Home) throws -> UsedStores {
    do {
      let bytes = try AtomicFile.read(path(home))
      return UsedStores(locations: try? Set(JSONDecoder().decode([String].self, from: Data(bytes))))
    } catch let error as SystemError where error.isNotFound {
      let manifest = Manifest.path(in: home)
      guard try FileStatus(manifest)?.kind == .file else { return UsedStores(locations: []) }
      return UsedStores(locations: try? successes(in: manifest), hasEarlierManifest: true)
    }
  }

  /// The stores in a manifest with a successful pass.
  private static func successes(in manifest: String) throws -> Set<String> {
    try CacheDatabase.read(manifest, "store") { database in
      let keys = try String.fetchAll(
        database, sql: "SELECT url FROM store WHERE lastSuccess IS NOT NULL")
      return Set(keys.map(Manifest.location))
    }
  }

  /// Whether the record is readable.
  package var isKnown: Bool { locations != nil }

  /// Whether this home has never used a store; false if unknown.
  package var isEmpty: Bool { locations?.isEmpty == true && !hasEarlierManifest }

  /// Whether this home has used a store; true if unknown.
  ///
  /// - Parameter location: the store's location, see ``ObjectStore/ObjectStore/location``.
  package func contains(_ location: String) -> Bool { locations?.contains(location) ?? true }

  /// Adds a store durably; writes nothing if it is recorded, or the disk is full.
  ///
  /// - Throws: ``Platform/SystemError``.
  package static func record(_ location: String, in home: Home) throws {
    let used = try load(home)
    // Keep an unreadable record: any store may have been in it.
    guard let locations = used.locations,
      used.hasEarlierManifest || !locations.contains(location)
    else { return }
    try save(locations.union([location]), in: home)
  }

  /// Records durably the stores that only an earlier version's manifest knows, because a cache may
  /// be replaced whenever it is opened.
  static func adoptManifest(of home: Home) throws {
    let used = try load(home)
    guard used.hasEarlierManifest, let locations = used.locations, !locations.isEmpty else {
      return
    }
    try save(locations, in: home)
  }

  private static func save(_ locations: Set<String>, in home: Home) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes]
    do {
      try AtomicFile.write(Array(encoder.encode(locations.sorted())) + [0x0A], to: path(home))
    } catch let error as SystemError where error.isDiskFull {
      // Uploads matter most when the disk is full; the next pass writes it.
    }
  }

  private static func path(_ home: Home) -> String { home.path + "/stores.json" }
}
