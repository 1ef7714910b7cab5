import Foundation
package import ObjectStore
import Replica

extension DirectoryStore {
  /// A store in a folder as `tidemark init` leaves it: the folder and the marker.
  ///
  /// - Parameters:
  ///   - path: the absolute path of the folder.
  ///   - pageSize: how many entries a page of a listing has.
  @discardableResult
  package static func prepared(at path: String, pageSize: Int = .max) throws -> DirectoryStore {
    let store = DirectoryStore(path: path, pageSize: pageSize)
    _ = try store.makeRoot()
    try Data(FormatMarker.content).write(to: URL(filePath: "\(path)/\(FormatMarker.key)"))
    return store
  }
}
