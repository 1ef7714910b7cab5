import ObjectStore

/// The properties in which stores differ.
///
/// The contract suite proves each of these, and the guide to servers shows them.
struct Traits: Sendable {
  /// The remains of a PUT whose connection broke in the middle of the body.
  enum Remains: String {
    case nothing
    case half = "half, under the name"
  }

  /// Its name in the guide.
  let name: String
  /// Whether the answer to a PUT contains a digest of what was stored.
  var provesContent = false
  /// Whether a listing comes in pages.
  var hasPages = false
  /// Maximum number of keys in one delete request.
  var deleteBatch = 1
  var cutPut = Remains.nothing
  /// Whether names that begin with a dot are listed.
  var listsDotFiles = true
  /// The error for a name of 255 bytes; nil if it is accepted.
  var refusesLongNames: StoreError.Code?
  /// The error for a key below an object's; nil if both can exist.
  var refusesKeysBelowKeys: StoreError.Code? = .conflict
  /// Foreign names that make a whole listing fail, with a clear error.
  var unlistable: [String: StoreError.Code] = [:]
}

extension Backend {
  /// The differing properties.
  var traits: Traits {
    switch self {
    case .directory: Traits(name: "directory", hasPages: true)
    case .lighttpd: Traits(name: "lighttpd", refusesLongNames: .transient)
    case .apache: Traits(name: "Apache", refusesKeysBelowKeys: .other)
    case .nginx:
      Traits(name: "nginx dav-ext", listsDotFiles: false, refusesKeysBelowKeys: .transient)
    case .wsgidav:
      Traits(name: "WsgiDAV", cutPut: .half, unlistable: ["not UTF-8": .transient])
    case .rcloneWebDAV:
      Traits(
        name: "rclone serve webdav", cutPut: .half, refusesKeysBelowKeys: .configuration)
    case .rcloneS3:
      Traits(
        name: "rclone serve s3", provesContent: true, hasPages: true, deleteBatch: 1000,
        refusesKeysBelowKeys: .transient)
    case .model: Traits(name: "model", provesContent: true, hasPages: true)
    }
  }
}
