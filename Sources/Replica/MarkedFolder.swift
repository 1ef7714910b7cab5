package import ObjectStore
import Platform

/// A folder on this machine that must have the store's marker before it is listed: a share that is
/// not mounted, or a folder that was emptied, looks like a store without sessions.
package final class MarkedFolder: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore
  private let isUsed: Bool
  private let isChecked = Guarded(false)

  private init(_ base: any ObjectStore, isUsed: Bool) { (self.base, self.isUsed) = (base, isUsed) }

  /// Wraps a store that is a folder; returns any other as it is.
  ///
  /// - Parameter isUsed: whether this home has used a store before.
  package static func wrapping(
    _ store: any ObjectStore, isUsed: (String) throws -> Bool
  ) rethrows -> any ObjectStore {
    store.isFolder ? MarkedFolder(store, isUsed: try isUsed(store.location)) : store
  }

  /// See ``ObjectStore/list(_:after:)``; also throws the errors of
  /// ``FormatMarker/check(_:isUsed:create:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    if !isChecked.withLock({ $0 }) {
      try await FormatMarker.check(base, isUsed: isUsed, create: false)
      isChecked.withLock { $0 = true }
    }
    return try await base.list(prefix, after: token)
  }
}
