import Foundation
import HTTPTransport
package import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder on this machine as an object store.
///
/// An object appears whole or not at all. Links below the folder are never followed. Every
/// operation throws `configuration` if the folder is missing, or is not the one of the first
/// operation.
package struct DirectoryStore: ObjectStore {
  /// `file://` and the path.
  package let location: String

  private let root: DirectoryRoot
  let pageSize: Int
  let machine: Machine
  /// Prefix of files being written, which are never listed.
  static let temporaryPrefix = ".tidemark-"

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the folder; see ``makeRoot()``.
  ///   - pageSize: Maximum number of entries in a page of a listing; each page reads the whole
  ///     folder.
  ///   - machine: The store's clock, and the source of names for temporary files.
  package init(path: String, pageSize: Int = .max, machine: Machine) {
    root = DirectoryRoot(path: path)
    location = "file://" + path
    self.pageSize = max(1, pageSize)
    self.machine = machine
  }

  /// Creates the folder, readable by its owner only, and its missing parents.
  ///
  /// No other operation does: a missing folder may be a share that is not mounted.
  ///
  /// - Returns: Whether it was missing.
  /// - Throws: `StoreError`.
  package func makeRoot() throws -> Bool {
    do throws(SystemError) {
      return try withOwnRights { () throws(SystemError) in try root.make() }
    } catch {
      throw StoreError(
        .configuration, operation: "MKDIR", target: location,
        response: String(cString: strerror(error.errno)),
        advice: "Check the path, and the rights of the folders above.")
    }
  }

  /// See ``ObjectStore/put(_:_:)``; durable when this returns.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try put(key, body) { folder, temporary, name throws(SystemError) in
      try folder.rename(temporary, to: name)
    }
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try put(key, body) { folder, temporary, name throws(SystemError) in
      try folder.link(temporary, to: name)
      try folder.remove(temporary)
    }
  }

  private typealias Publish = (
    _ folder: borrowing Descriptor, _ temporary: String, _ name: String
  ) throws(SystemError) -> Void

  /// Writes a temporary file and publishes it under its name.
  ///
  /// - Parameter publish: Gives the file its name.
  private func put(
    _ key: String, _ body: [UInt8], publish: Publish
  ) throws -> PutReceipt {
    try ObjectKey.check(key, operation: "PUT")
    return try perform("PUT", key) { root throws(SystemError) in
      var attempts = 1
      while true {
        do throws(SystemError) {
          try write(key, body, in: root, publish)
          return PutReceipt(provesContent: false, serverDate: serverTime)
        } catch  where [ENOENT, ESTALE].contains(error.errno) && attempts < Self.putAttempts {
          // A concurrent deletion removed the empty folder before the temporary file was in it.
          attempts += 1
        }
      }
    }
  }

  /// The clock of this store's answers: this machine's.
  var serverTime: ServerTime { machine.now().assumingSynchronizedClocks }

  /// Maximum attempts of a put to create a folder that deletions keep removing.
  private static let putAttempts = 20

  private func write(
    _ key: String, _ body: [UInt8], in root: borrowing Descriptor,
    _ publish: Publish
  ) throws(SystemError) {
    let folder = try folder(of: key, in: root, creating: true)
    let temporary = Self.temporaryPrefix + String(machine.random(), radix: 36)
    do throws(SystemError) {
      let file = try Descriptor(temporary, in: folder, [.write, .new])
      try file.write(body)
      do throws(SystemError) {
        try file.synchronize()
      } catch  where error.errno == EINVAL {
        // The file system does not support sync.
      }
      try publish(folder, temporary, Self.name(key))
      try folder.synchronizeNames()
    } catch {
      try? folder.remove(temporary)
      throw error
    }
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try ObjectKey.check(key, operation: "GET")
    let (bytes, refusal) = try perform("GET", key) { root throws(SystemError) in
      let folder = try self.folder(of: key, in: root, creating: false)
      let file = try Descriptor(Self.name(key), in: folder)
      let status = try file.status()
      guard status.kind == .file else { throw Self.notFound(key) }
      let size = ByteCount(status.length)
      let refusal = range?.refusal(ofSize: size, "\(location)/\(key)")
      let part = refusal != nil ? 0..<0 : range?.resolved(size: size) ?? 0..<size.bytes
      let count = Int(part.upperBound - part.lowerBound)
      return (try file.read(at: part.lowerBound, count: count), refusal)
    }
    if let refusal { throw refusal }
    return bytes
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    try ObjectKey.check(key, operation: "HEAD")
    return try perform("HEAD", key) { root throws(SystemError) in
      let status = try self.folder(of: key, in: root, creating: false).status(
        of: Self.name(key))
      guard status.kind == .file else { throw Self.notFound(key) }
      return ObjectEntry(key: key, size: ByteCount(status.length), modified: status.serverTime)
    }
  }

  /// See ``ObjectStore/delete(_:)``; removes a folder with its last object.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    guard let first = keys.first else { return [] }
    // With a missing root, no key's state is known.
    try perform("DELETE", first) { _ throws(SystemError) in }
    return try keys.map { key in
      try ObjectKey.check(key, operation: "DELETE")
      do {
        try perform("DELETE", key) { root throws(SystemError) in
          let folder = try self.folder(of: key, in: root, creating: false)
          try folder.remove(Self.name(key))
          removeFolder(of: key, in: root)
        }
        return DeleteOutcome(key: key)
      } catch let error as StoreError where error.code != .cancelled {
        return DeleteOutcome(key: key, error: error.isNotFound ? nil : error)
      }
    }
  }

  private static func notFound(_ key: String) -> SystemError {
    SystemError(operation: "open", path: key, errno: SystemError.Number.notFound)
  }

  private static func name(_ key: String) -> String {
    key.lastSlash.map { String(key[key.utf8.index(after: $0)...]) }
      ?? key
  }

  /// Runs file calls in the root folder, and turns the errno of a failure into a `StoreError`.
  func perform<Result>(
    _ operation: String, _ key: String,
    _ body: (borrowing Descriptor) throws(SystemError) -> Result
  ) throws -> Result {
    let target = "\(location)/\(key)"
    guard !Task.isCancelled else {
      throw StoreError(
        .cancelled, operation: operation, target: target, response: "the request was cancelled")
    }
    return try withOwnRights {
      let folder = try root.open(operation, target)
      do throws(SystemError) {
        return try body(folder)
      } catch {
        throw fileError(error.errno, operation, target)
      }
    }
  }
}

extension FileStatus {
  /// Time of its last change, by the clock of this store's answers.
  var serverTime: ServerTime { modifiedAt.assumingSynchronizedClocks }
}

/// The store error for the errno of a file call.
func fileError(_ code: CInt, _ operation: String, _ target: String) -> StoreError {
  let meaning: StoreError.Code
  var advice = ""
  switch code {
  case ENOENT where operation != "PUT", ENOTDIR where operation != "PUT": meaning = .notFound
  case ENOSPC, EDQUOT: (meaning, advice) = (.full, "Free some space on the disk.")
  case EFBIG: (meaning, advice) = (.tooLarge, "Raise the limit on the size of files.")
  case EACCES, EPERM, EROFS:
    (meaning, advice) = (.configuration, "Check the owner and the rights of the folder.")
  case ENOTDIR, EISDIR, ELOOP, EEXIST:
    (meaning, advice) = (.conflict, "Something else has this name; look at the folder.")
  case EINTR, EIO, EAGAIN, EMFILE, ENFILE, ENOMEM, EBUSY, ESTALE, ETIMEDOUT, ENOENT,
    ENOTCONN, EHOSTDOWN, EHOSTUNREACH:
    (meaning, advice) = (.transient, "Try again later.")
  case ENAMETOOLONG: (meaning, advice) = (.unsupported, "Choose a shorter path.")
  default: meaning = .other
  }
  return StoreError(
    meaning, operation: operation, target: target, response: String(cString: strerror(code)),
    advice: advice)
}
