import GRDB
import Platform
package import SessionLog

/// A cache that exists and cannot be read, as on a full disk: an empty one in memory replaces it.
package enum UnreadableCache {
  /// Why a home's cache cannot be read; nil if it can, or there is none.
  package static func problem(of home: Home) -> String? {
    let path = Manifest.path(in: home)
    guard (try? FileStatus(path))?.kind == .file else { return nil }
    do {
      _ = try CacheDatabase.read(path, "store") { database in
        try Row.fetchOne(database, sql: "SELECT 1 FROM store LIMIT 1")
      }
      return nil
    } catch {
      return "\(path) cannot be read, so what was sent, and when, is unknown: \(error)"
    }
  }
}
