import Foundation
import HTTPTransport
import Platform

extension DirectoryStore {
  /// Opens the folder of a key, component by component, so that no link leads out of the root.
  func folder(
    of key: String, in root: borrowing Descriptor, creating: Bool
  ) throws(SystemError) -> Descriptor {
    try folder(key.fields(between: "/").dropLast(), in: root, creating: creating)
  }

  func folder(
    _ segments: some Sequence<Substring>, in root: borrowing Descriptor, creating: Bool
  ) throws(SystemError) -> Descriptor {
    var current = try root.reopened()
    for segment in segments.lazy.map(String.init) {
      if creating {
        do throws(SystemError) {
          try current.makeDirectory(segment)
          try current.synchronizeNames()
        } catch  where error.isTaken {
          // It exists already.
        }
      }
      current = try Descriptor(segment, in: current, .directory)
    }
    return current
  }

  /// Removes the folder of a key if it is empty; never the root.
  ///
  /// Safe during puts: rmdir fails on a folder that is not empty. A remaining folder does no harm.
  func removeFolder(of key: String, in root: borrowing Descriptor) {
    let segments = key.fields(between: "/").dropLast()
    guard let name = segments.last,
      let parent = try? folder(segments.dropLast(), in: root, creating: false),
      FileSystem.removesAtomically(in: parent)
    else { return }
    try? parent.removeDirectory(String(name))
  }

  /// See ``ObjectStore/list(_:after:)``; the token is the previous page's last name.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try ObjectKey.checkPrefix(prefix)
    do {
      return try perform("LIST", prefix) { root throws(SystemError) in
        try page(prefix, in: root, after: token)
      }
    } catch let error as StoreError where error.isNotFound {
      return ListPage(serverDate: serverTime)
    }
  }

  private func page(
    _ prefix: String, in root: borrowing Descriptor, after token: String?
  ) throws(SystemError) -> ListPage {
    let slash =
      prefix.lastSlash.map(prefix.utf8.index(after:))
      ?? prefix.startIndex
    let parent = String(prefix[..<slash])
    let start = prefix[slash...]
    let folder = try folder(parent.fields(between: "/"), in: root, creating: false)
    let all = try folder.names()
    sweep(all.filter { $0.hasPrefix(Self.temporaryPrefix) }, in: folder)
    let names = all.filter { name in
      name.hasPrefix(start) && ObjectKey.isValid(name)
        && !name.hasPrefix(Self.temporaryPrefix) && token.map { name > $0 } ?? true
    }.sorted()
    var page = ListPage(serverDate: serverTime)
    for name in names.prefix(pageSize) {
      // Omit files that have disappeared since the names were read.
      guard let status = try? folder.status(of: name) else { continue }
      switch status.kind {
      case .directory: page.directories.append("\(parent)\(name)/")
      case .file:
        page.objects.append(
          ObjectEntry(
            key: parent + name, size: ByteCount(status.length), modified: status.serverTime))
      default: continue
      }
    }
    if names.count > pageSize { page.next = names[pageSize - 1] }
    return page
  }

  /// The longest that a put takes, even on a file server whose clock is hours behind.
  private static let longestPut = Duration.days(1)

  /// Removes temporary files of puts that were killed long ago, as far as permissions allow.
  private func sweep(_ temporaries: [String], in folder: borrowing Descriptor) {
    let limit = serverTime - Self.longestPut
    for name in temporaries {
      guard let status = try? folder.status(of: name), status.serverTime < limit else { continue }
      try? folder.remove(name)
    }
  }
}
