/// A pending change to the file system.
///
/// Every change that the product makes to files passes through ``perform(_:_:)``, so that a
/// simulation can refuse it, as if the process had died, record it, for a power failure, or set the
/// resulting times.
package struct FileEffect: Sendable, Equatable {
  /// The kinds of change.
  package enum Kind: Sendable, Equatable {
    /// Opens a file for writing: creates it if missing, or truncates it, according to the modes.
    case open(Descriptor.Mode)
    /// Writes this many bytes, at the end or at the write position.
    case write(Int)
    /// Truncates or extends a file to a length.
    case truncate(Int64)
    /// Allocates disk space.
    case allocate(Int64)
    /// Makes a file's content durable.
    case synchronize
    /// Makes the names in a folder durable.
    case synchronizeNames
    /// Renames a file, replacing an existing one.
    case rename(to: String)
    /// Gives a file an additional name.
    case link(to: String)
    /// Removes an entry other than a folder.
    case remove
    /// Creates a folder.
    case makeDirectory
    /// Removes an empty folder.
    case removeDirectory
    /// Sets the modification time.
    case setModified
    /// Sets the permissions.
    case setMode(UInt32)
    /// Writes to a database.
    case transaction
  }

  /// The kind of change.
  package let kind: Kind
  /// The path changed; for an entry of an open folder, relative to the path that the folder was
  /// opened with.
  package let path: String
  /// The open file; nil for changes to names.
  package let number: Int32?

  /// Describes a change.
  package init(_ kind: Kind, _ path: String, number: Int32? = nil) {
    (self.kind, self.path, self.number) = (kind, path, number)
  }

  /// Sees every change to files by the current task and its child tasks; nil for none.
  ///
  /// Threads and queues do not inherit it, see ``Parallelism/isSequential``.
  @TaskLocal package static var hook: (any FileEffects)?

  /// Makes a change, unless the hook decides otherwise.
  ///
  /// - Parameters:
  ///   - effect: the change; not evaluated without a hook.
  ///   - body: the system call; returns its result, or the negated error number.
  /// - Returns: the result, or the negated error number.
  @inline(__always)
  package static func perform(_ effect: @autoclosure () -> FileEffect, _ body: () -> Int) -> Int {
    guard let hook else { return body() }
    return hook.perform(effect(), body)
  }

  /// The same, throwing the error number.
  ///
  /// - Parameter operation: a verb, for the message.
  @discardableResult
  static func perform(
    _ effect: @autoclosure () -> FileEffect, _ operation: String, _ path: @autoclosure () -> String,
    _ body: () -> Int
  ) throws(SystemError) -> Int {
    let result = perform(effect(), body)
    guard result >= 0 else {
      throw SystemError(operation: operation, path: path(), errno: Int32(-result))
    }
    return result
  }
}

/// Handles the changes of tasks to files in place of the system.
package protocol FileEffects: Sendable {
  /// Makes a change by calling `body`, or refuses it.
  ///
  /// - Parameters:
  ///   - effect: the change.
  ///   - body: makes it. Return its result, which is that of the system call or the negated error
  ///     number; without calling it, return a negated error number.
  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int

  /// 64 random bits, for the names of temporary files.
  func random() -> UInt64

  /// The status that a task sees in place of the system's.
  func status(_ status: FileStatus) -> FileStatus
}

extension FileEffects {
  /// The system's status.
  package func status(_ status: FileStatus) -> FileStatus { status }
}
