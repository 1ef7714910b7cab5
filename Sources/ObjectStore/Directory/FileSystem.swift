import Platform

#if canImport(Glibc)
  import CFileUser
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Properties of the file system that a folder is on.
enum FileSystem {
  /// Whether rmdir fails here on a folder into which another machine has just put a file.
  ///
  /// A file system in user space may be a WebDAV client that checks a folder, and then deletes it
  /// with everything added meanwhile.
  static func removesAtomically(in folder: borrowing Descriptor) -> Bool {
    var system = statfs()
    guard fstatfs(folder.number, &system) == 0 else { return false }
    #if canImport(Darwin)
      let type = withUnsafeBytes(of: &system.f_fstypename) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      return ["apfs", "hfs", "nfs", "smbfs"].contains(type)
    #else
      let fuse = 0x6573_5546
      return Int(system.f_type) != fuse
    #endif
  }
}
