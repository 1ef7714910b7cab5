/// Suggests the WebDAV address of well-known servers in place of their web page's.
enum WebPageHint {
  /// The advice; nil if the URL is not that of such a page.
  static func advice(for url: String) -> String? {
    let parts = url.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    guard parts.count >= 2 else { return nil }
    let host = parts[1]
    let path =
      "/" + parts.dropFirst(2).joined(separator: "/").prefix { $0 != "?" && $0 != "#" } + "/"
    if path.contains("/index.php/") || path.hasPrefix("/apps/") || path.contains("/apps/files/") {
      return "That is the address of a web page. "
        + "Write https://\(host)/remote.php/dav/files/USER/FOLDER (Nextcloud, ownCloud)."
    }
    if path.hasPrefix("/files/spaces/") || path.hasPrefix("/files/link/") {
      return "That is the address of a web page. "
        + "Write https://\(host)/remote.php/dav/files/USER/FOLDER (ownCloud)."
    }
    if path.hasPrefix("/library/") {
      return "That is the address of a web page. Write https://\(host)/seafdav/LIBRARY (Seafile)."
    }
    return nil
  }
}
