import Foundation
package import ObjectStore
import Platform
import Replica

extension DirectoryStore {
  /// A store in a folder as prepared by `tidemark init`: the folder and the marker.
  ///
  /// - Parameters:
  ///   - path: the absolute path of the folder.
  ///   - pageSize: number of entries in a page of a listing.
  @discardableResult
  package static func prepared(at path: String, pageSize: Int = .max) throws -> DirectoryStore {
    let store = DirectoryStore(path: path, pageSize: pageSize, machine: .current)
    _ = try store.makeRoot()
    try Data(FormatMarker.content).write(to: URL(filePath: "\(path)/\(FormatMarker.key)"))
    return store
  }
}
