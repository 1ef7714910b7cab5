/// The login of every WebDAV test server.
package enum ServerLogin {
  /// The user that may log in.
  package static let user = "tide"
  /// The user's password.
  package static let password = "mark"
}

/// A server whose objects are in a folder of this machine.
package protocol FileServer: Sendable {
  /// The URL of its root, without a slash at the end.
  var url: String { get }
  /// The folder on disk that the URL shows.
  var files: String { get }
}
