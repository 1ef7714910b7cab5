import ObjectStore

/// What a store does in its own way; everything else is alike.
///
/// The contract suite proves each of these, and the guide to servers shows them.
struct Traits: Sendable {
  /// What is left of a PUT whose connection broke in the middle of the body.
  enum Remains: String {
    case nothing
    case half = "half, under the name"
  }

  /// What the guide calls it.
  let name: String
  /// Whether the answer to a PUT tells a digest of what was stored.
  var provesContent = false
  /// Whether a listing comes in pages.
  var hasPages = false
  /// How many keys one delete request takes.
  var deleteBatch = 1
  var cutPut = Remains.nothing
  /// Whether names that begin with a dot are listed.
  var listsDotFiles = true
  /// How a name of 255 bytes is refused; nil when it is taken.
  var refusesLongNames: StoreError.Code?
  /// How a key below an object's is refused; nil when both may be.
  var refusesKeysBelowKeys: StoreError.Code? = .conflict
  /// Names of others that make a whole listing fail, clearly.
  var unlistable: [String: StoreError.Code] = [:]
}

extension Backend {
  /// The table of all that differs.
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
