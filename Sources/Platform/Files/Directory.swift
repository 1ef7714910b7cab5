#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Makes directories, and lists the names in them.
package enum Directory {
  /// Makes a directory and its parents.
  package static func make(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw SystemError(operation: "make", path: path, errno: errno)
    }
    try make(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw SystemError(operation: "make", path: path, errno: errno)
    }
  }

  /// Names in a directory; one that is not there is empty.
  package static func names(in directory: String) throws -> [String] {
    guard let stream = opendir(directory) else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw SystemError(operation: "read", path: directory, errno: errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
