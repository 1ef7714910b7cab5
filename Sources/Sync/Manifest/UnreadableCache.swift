import GRDB
import Platform
package import SessionLog

/// A cache that exists and cannot be read, as on a full disk: an empty one in memory replaces it.
package enum UnreadableCache {
  /// Why a home's cache cannot be read; nil if it can, or there is none.
  package static func problem(of home: Home) -> String? {
    let path = "\(home.cachePath)/manifest.sqlite"
    guard (try? FileStatus(path))?.kind == .file else { return nil }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    do {
      _ = try CacheError.wrapping {
        try DatabaseQueue(path: path, configuration: configuration).read { database in
          try Row.fetchOne(database, sql: "SELECT 1 FROM store LIMIT 1")
        }
      }
      return nil
    } catch {
      return "\(path) cannot be read, so what was sent, and when, is unknown: \(error)"
    }
  }
}
