import Foundation
import HTTPTransport
import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DirectoryStore {
  /// Opens the folder that a key is in, segment by segment, so that no link leads out of the root.
  func folder(
    of key: String, in root: borrowing Descriptor, creating: Bool
  ) throws(Descriptor.Failure) -> Descriptor {
    try folder(key.split(separator: "/").dropLast(), in: root, creating: creating)
  }

  func folder(
    _ segments: some Sequence<Substring>, in root: borrowing Descriptor, creating: Bool
  ) throws(Descriptor.Failure) -> Descriptor {
    var current = try Descriptor.open(".", in: root, O_RDONLY | O_DIRECTORY)
    for segment in segments.lazy.map(String.init) {
      if creating, mkdirat(current.raw, segment, 0o700) == 0 {
        try current.synchronize()
      } else if creating, errno != EEXIST {
        throw Descriptor.Failure(errno: errno)
      }
      current = try Descriptor.open(segment, in: current, O_RDONLY | O_DIRECTORY)
    }
    return current
  }

  /// Removes the folder that a key is in when nothing is left in it; never the root.
  ///
  /// Safe beside puts: rmdir fails on a folder that holds anything. A folder that stays does no harm.
  func removeFolder(of key: String, in root: borrowing Descriptor) {
    let segments = key.split(separator: "/").dropLast()
    guard let name = segments.last,
      let parent = try? folder(segments.dropLast(), in: root, creating: false),
      parent.removesAtomically
    else { return }
    unlinkat(parent.raw, String(name), AT_REMOVEDIR)
  }

  /// See ``ObjectStore/list(_:after:)``; the token is the last name of the page before.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try ObjectKey.checkPrefix(prefix)
    do {
      return try perform("LIST", prefix) { root throws(Descriptor.Failure) in
        try page(prefix, in: root, after: token)
      }
    } catch let error as StoreError where error.isNotFound {
      return ListPage(serverDate: serverTime)
    }
  }

  private func page(
    _ prefix: String, in root: borrowing Descriptor, after token: String?
  ) throws(Descriptor.Failure) -> ListPage {
    let slash = prefix.lastIndex(of: "/").map(prefix.index(after:)) ?? prefix.startIndex
    let parent = String(prefix[..<slash])
    let start = prefix[slash...]
    let folder = try folder(parent.split(separator: "/"), in: root, creating: false)
    let all = try names(in: folder)
    sweep(all.filter { $0.hasPrefix(Self.temporaryPrefix) }, in: folder)
    let names = all.filter { name in
      name.hasPrefix(start) && ObjectKey.isValid(name)
        && !name.hasPrefix(Self.temporaryPrefix) && token.map { name > $0 } ?? true
    }.sorted()
    var page = ListPage(serverDate: serverTime)
    for name in names.prefix(pageSize) {
      // What is gone since the names were read is no longer there to be listed.
      guard let status = try? folder.status(of: name) else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: page.directories.append("\(parent)\(name)/")
      case S_IFREG:
        page.objects.append(
          ObjectEntry(
            key: parent + name, size: Int64(status.st_size), modified: status.modified))
      default: continue
      }
    }
    if names.count > pageSize { page.next = names[pageSize - 1] }
    return page
  }

  /// No put takes longer than this, on a file server whose clock is some hours behind either.
  private static let longestPut = Duration.days(1)

  /// Removes what puts have left that were killed long ago, as far as we may.
  private func sweep(_ temporaries: [String], in folder: borrowing Descriptor) {
    let limit = serverTime - Self.longestPut
    for name in temporaries {
      guard let status = try? folder.status(of: name), status.modified < limit else { continue }
      unlinkat(folder.raw, name, 0)
    }
  }

  private func names(in folder: borrowing Descriptor) throws(Descriptor.Failure) -> [String] {
    // The stream takes a descriptor of its own, because closing it closes that.
    let copy = try Descriptor.check(openat(folder.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    guard let stream = fdopendir(copy) else {
      let code = errno
      close(copy)
      throw Descriptor.Failure(errno: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw Descriptor.Failure(errno: errno) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
  }
}
