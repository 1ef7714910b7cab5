import Foundation
import HTTPTransport

#if canImport(Glibc)
  import CFileUser
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file descriptor that is closed when it goes out of scope, and the calls on it.
///
/// Every call throws the `errno` that it failed with.
struct Descriptor: ~Copyable {
  let raw: CInt

  deinit {
    close(raw)
  }

  /// An errno as an error.
  struct Failure: Error {
    let errno: CInt
  }

  /// Opens a path relative to a folder; `folder` nil means an absolute path.
  static func open(_ name: String, in folder: borrowing Descriptor, _ flags: CInt) throws(Failure)
    -> Descriptor
  {
    Descriptor(raw: try check(openat(folder.raw, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)))
  }

  /// Opens a folder by its path, which may lead over links.
  static func open(path: String) throws(Failure) -> Descriptor {
    Descriptor(raw: try check(openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
  }

  /// The type and size of an entry, without following a link.
  func status(of name: String) throws(Failure) -> stat {
    var result = stat()
    _ = try Self.check(fstatat(raw, name, &result, AT_SYMLINK_NOFOLLOW))
    return result
  }

  /// The type and size of the open file.
  func status() throws(Failure) -> stat {
    var result = stat()
    _ = try Self.check(fstat(raw, &result))
    return result
  }

  /// Writes all bytes.
  func write(_ bytes: [UInt8]) throws(Failure) {
    var position = 0
    while position < bytes.count {
      let count = bytes[position...].withUnsafeBytes {
        platformWrite(raw, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(errno: count == 0 ? EIO : errno) }
      position += count
    }
  }

  /// Reads at most `count` bytes from a position; fewer only at the end of the file.
  func read(at offset: Int64, count: Int) throws(Failure) -> [UInt8] {
    var code: CInt = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = pread(
          raw, buffer.baseAddress?.advanced(by: filled), count - filled,
          off_t(offset) + off_t(filled))
        if got < 0, errno == EINTR { continue }
        if got < 0 { code = errno }
        guard got > 0 else { return }
        filled += got
      }
    }
    guard code == 0 else { throw Failure(errno: code) }
    return bytes
  }

  /// Brings the file, or the names in the folder, to the disk.
  func synchronize() throws(Failure) {
    // Some network file systems cannot sync a folder and say EINVAL.
    guard fsync(raw) != 0, errno != EINVAL else { return }
    throw Failure(errno: errno)
  }

  /// Whether rmdir in this folder fails on a folder that another machine has just put a file into.
  ///
  /// A file system in user space may be a WebDAV client, which looks into a folder and then deletes
  /// it with everything that is in it by then.
  var removesAtomically: Bool {
    var system = statfs()
    guard fstatfs(raw, &system) == 0 else { return false }
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

  /// The result of a call, or its errno thrown.
  static func check(_ result: CInt) throws(Failure) -> CInt {
    guard result >= 0 else { throw Failure(errno: errno) }
    return result
  }
}

/// The system's `write`, under a name that the method above does not hide.
private func platformWrite(_ file: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
