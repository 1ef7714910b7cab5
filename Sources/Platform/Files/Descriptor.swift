#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open file or folder, closed when it goes out of scope.
///
/// Every call throws the error number that it failed with.
package struct Descriptor: ~Copyable {
  /// How to open something; by default read-only.
  package struct Mode: OptionSet, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Write-only.
    package static let write = Mode(rawValue: O_WRONLY)
    /// Read and write.
    package static let readWrite = Mode(rawValue: O_RDWR)
    /// Create if missing.
    package static let create = Mode(rawValue: O_CREAT)
    /// Create; an error if it exists.
    package static let new = Mode(rawValue: O_CREAT | O_EXCL)
    /// Append: every write goes to the present end.
    package static let append = Mode(rawValue: O_APPEND)
    /// Truncate to zero length.
    package static let empty = Mode(rawValue: O_TRUNC)
    /// A folder only.
    package static let directory = Mode(rawValue: O_DIRECTORY)

    fileprivate var isEffect: Bool { !isDisjoint(with: [.write, .readWrite, .new, .empty]) }
  }

  /// Its number, for calls that this type lacks.
  package let number: Int32
  /// The path it was opened with.
  package let path: String

  deinit { close(number) }

  /// Opens a regular file and nothing else.
  ///
  /// In machine-wide mode root opens files that a home's user may have replaced. Opening a pipe can
  /// block, opening a device can have side effects, and following a link can reach any file.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - mode: how to open it.
  ///   - rights: permissions of a created file.
  ///   - followsLinks: whether to follow a link at the path, as for a file that a person wrote.
  /// - Throws: ``SystemError``, also if it is not a regular file.
  package init(
    opening path: String, _ mode: Mode = [], rights: UInt32 = 0o600, followsLinks: Bool = false
  ) throws(SystemError) {
    let opened = try Self.openAny(path, mode, rights, followsLinks: followsLinks)
    guard try opened.status().kind == .file else { throw Self.refusal(path, EINVAL) }
    self = opened
  }

  private static func openAny(
    _ path: String, _ mode: Mode, _ rights: UInt32, followsLinks: Bool
  ) throws(SystemError) -> Descriptor {
    // Without O_NONBLOCK, opening a pipe blocks until its other end is opened.
    let flags = O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
    return Descriptor(
      number: try orRefusal(of: path) { () throws(SystemError) in
        try open(path, AT_FDCWD, path, mode, flags, rights)
      }, path: path)
  }

  /// Opens, and says so if what is at a path is not a regular file.
  static func orRefusal(
    of path: String, opening: () throws(SystemError) -> Int32
  ) throws(SystemError) -> Int32 {
    do {
      return try opening()
    } catch {
      // A link, a folder opened for writing and a pipe without a reader fail with different error
      // numbers.
      if let status = try? FileStatus(path), status.kind != .file, error.errno != EEXIST {
        throw refusal(path, error.errno)
      }
      throw error
    }
  }

  /// Opens a folder, following links.
  package init(openingDirectory path: String, followsLinks: Bool = true) throws(SystemError) {
    let flags = followsLinks ? 0 : O_NOFOLLOW
    number = try Self.open(path, AT_FDCWD, path, .directory, flags, 0)
    self.path = path
  }

  /// Opens an entry of a folder, without following a link or waiting for a pipe.
  package init(
    _ name: String, in folder: borrowing Descriptor, _ mode: Mode = [], rights: UInt32 = 0o600
  ) throws(SystemError) {
    let path = folder.path(of: name)
    number = try Self.open(name, folder.number, path, mode, O_NOFOLLOW | O_NONBLOCK, rights)
    self.path = path
  }

  /// Opens the folder again.
  package func reopened() throws(SystemError) -> Descriptor {
    Descriptor(
      number: try Self.open(".", number, path, .directory, 0, 0), path: path)
  }

  init(number: Int32, path: String) { (self.number, self.path) = (number, path) }

  /// Creates a file without a name in a folder, which leaves nothing behind.
  package init(unnamedIn folder: String) throws(SystemError) {
    var template = Array((folder + "/tidemark-XXXXXX").utf8CString)
    let result = FileEffect.perform(FileEffect(.open([.readWrite, .new]), folder)) {
      systemResult(Int(mkstemp(&template)))
    }
    guard result >= 0 else {
      throw SystemError(operation: "create", path: folder, errno: Int32(-result))
    }
    (number, path) = (Int32(result), folder)
    unlink(template)
  }

  static func open(
    _ name: String, _ folder: Int32, _ path: String, _ mode: Mode, _ flags: Int32, _ rights: UInt32
  ) throws(SystemError) -> Int32 {
    let call = {
      systemResult(Int(openat(folder, name, mode.rawValue | flags | O_CLOEXEC, mode_t(rights))))
    }
    let result = mode.isEffect ? FileEffect.perform(FileEffect(.open(mode), path), call) : call()
    guard result >= 0 else {
      throw SystemError(operation: "open", path: path, errno: Int32(-result))
    }
    return Int32(result)
  }

  static func refusal(_ path: String, _ reason: Int32) -> SystemError {
    SystemError(operation: SystemError.openingRegularFile, path: path, errno: reason)
  }

  /// The path of an entry of this folder.
  func path(of name: String) -> String { name == "." ? path : "\(path)/\(name)" }
}

/// The result of a system call, or its negated error number.
func systemResult(_ result: Int) -> Int { result < 0 ? -Int(errno) : result }

/// `write(2)`, returning the negated error number on failure.
package func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  systemResult(write(descriptor, bytes.baseAddress, bytes.count))
}
