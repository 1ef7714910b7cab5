/// A store that cannot be opened, for example because the file with its password is missing: each
/// request fails with that error.
///
/// It has the location of the store, so that local state about it can be read.
package struct UnusableStore: ObjectStore {
  /// See ``ObjectStore/location``.
  package let location: String
  /// Why the store cannot be opened.
  package let error: StoreError

  /// Describes the store at a URL.
  ///
  /// - Parameters:
  ///   - url: The store's URL.
  ///   - error: Why it cannot be opened.
  ///   - settings: The settings of the configuration file.
  ///   - environment: The process's environment; overrides the settings.
  /// - Throws: `StoreError` with `configuration` if the settings do not say where the store is.
  package init(
    _ url: StoreURL, _ error: StoreError, settings: StoreSettings, environment: [String: String]
  ) throws {
    self.error = error
    switch url.kind {
    case .directory(let path):
      location = DirectoryStore(path: path, machine: settings.machine).location
    case .webdav(let address): location = address
    case .s3(let bucket, let prefix):
      location = S3Store.location(
        bucket, prefix,
        try S3Service.resolve(
          environment: environment, settings: settings.s3,
          allowsPlaintext: settings.allowsPlaintext))
    }
  }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt { throw error }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] { throw error }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry { throw error }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    throw error
  }

  /// See ``ObjectStore/delete(_:)``.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] { throw error }
}
