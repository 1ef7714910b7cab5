import Foundation
import GRDB
import Platform
package import SessionLog

/// The stores that this home has used: durable, unlike the manifest.
///
/// A store that was used and lacks its marker is not mounted, emptied or another one; a new store
/// lacks it as well. This record is what distinguishes the two. The file is `stores.json`, a sorted
/// array of locations, which hold no credentials.
package struct UsedStores: Sendable, Equatable {
  /// The locations; nil where the file is garbage: any store may be among them then.
  private var locations: Set<String>?
  /// Whether the home has the manifest of a version that kept no record.
  private var hasEarlierManifest = false

  /// Reads the record of a home.
  ///
  /// A home without one has used the stores that its manifest shows a success of.
  ///
  /// - Throws: ``Platform/SystemError`` when the file is there and cannot be read.
  package static func load(_ home: Home) throws -> UsedStores {
    do {
      let bytes = try AtomicFile.read(path(home))
      return UsedStores(locations: try? Set(JSONDecoder().decode([String].self, from: Data(bytes))))
    } catch let error as SystemError where error.isNotFound {
      let manifest = home.cachePath + "/manifest.sqlite"
      guard try FileStatus(manifest)?.kind == .file else { return UsedStores(locations: []) }
      return UsedStores(locations: try? successes(in: manifest), hasEarlierManifest: true)
    }
  }

  /// The stores of a manifest that a pass has got through to.
  private static func successes(in manifest: String) throws -> Set<String> {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    return try DatabaseQueue(path: manifest, configuration: configuration).read { database in
      let keys = try String.fetchAll(
        database, sql: "SELECT url FROM store WHERE lastSuccess IS NOT NULL")
      return Set(keys.map(Manifest.location))
    }
  }

  /// Whether the record can be read.
  package var isKnown: Bool { locations != nil }

  /// Whether this home has never used any store; false where that is not known.
  package var isEmpty: Bool { locations?.isEmpty == true && !hasEarlierManifest }

  /// Whether this home has used a store; true where that is not known.
  ///
  /// - Parameter location: the store's, see ``ObjectStore/ObjectStore/location``.
  package func contains(_ location: String) -> Bool { locations?.contains(location) ?? true }

  /// Adds a store durably; writes nothing where it is known, or the disk is full.
  ///
  /// - Throws: ``Platform/SystemError``.
  package static func note(_ location: String, in home: Home) throws {
    let used = try load(home)
    // A record that cannot be read stays: any store may have been in it.
    guard let locations = used.locations,
      used.hasEarlierManifest || !locations.contains(location)
    else { return }
    try save(locations.union([location]), in: home)
  }

  /// Records durably what only an earlier version's manifest knows: a cache may be made anew whenever
  /// it is opened.
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
      // A full disk is when uploads matter most; the next pass writes it.
    }
  }

  private static func path(_ home: Home) -> String { home.path + "/stores.json" }
}
