/// A change to the file system that is about to be made.
///
/// Every change that the product makes to files passes through ``perform(_:_:)``, so that a
/// simulation can refuse it, as after the death of the process that makes it, write it down, for a
/// power cut, or set the times that it leaves.
package struct FileEffect: Sendable, Equatable {
  /// What is done.
  package enum Kind: Sendable, Equatable {
    /// Opens a file for writing: makes it where it is missing, or empties it, where the modes say so.
    case open(Descriptor.Mode)
    /// Appends, or writes at the place where the file stands, so many bytes.
    case write(Int)
    /// Cuts a file to a length, or makes it as long.
    case truncate(Int64)
    /// Takes room on the disk.
    case allocate(Int64)
    /// Makes a file's content durable.
    case synchronize
    /// Makes the names in a folder durable.
    case synchronizeNames
    /// Gives a file another name, over what has that.
    case rename(to: String)
    /// Gives a file one more name.
    case link(to: String)
    /// Removes a name that is not a folder's.
    case remove
    /// Makes a folder.
    case makeDirectory
    /// Removes an empty folder.
    case removeDirectory
    /// Sets the time of the last change of the content.
    case setModified
    /// Sets the rights.
    case setMode(UInt32)
    /// Writes to a database.
    case transaction
  }

  /// What is done.
  package let kind: Kind
  /// What it is done to; below an open folder, by the path that this was opened with.
  package let path: String
  /// The open file; nil for what is done to names.
  package let number: Int32?

  /// Describes a change.
  package init(_ kind: Kind, _ path: String, number: Int32? = nil) {
    (self.kind, self.path, self.number) = (kind, path, number)
  }

  /// Sees every change that the current task, and those that it starts, make to files; nil for none.
  ///
  /// Threads and queues do not inherit it, see ``Parallelism/isSequential``.
  @TaskLocal package static var hook: (any FileEffects)?

  /// Makes a change, unless the hook has it otherwise.
  ///
  /// - Parameters:
  ///   - effect: what it is; not looked at without a hook.
  ///   - body: the system call; its result, or the error number as a negative.
  /// - Returns: the result, or the error number as a negative.
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

/// What sees the changes that tasks make to files, in the place of the system.
package protocol FileEffects: Sendable {
  /// Makes a change by calling `body`, or refuses it.
  ///
  /// - Parameters:
  ///   - effect: the change.
  ///   - body: makes it. Its result, that of the system call, or the error number as a negative, is
  ///     to be returned; without a call, an error number as a negative.
  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int

  /// 64 random bits, for the names of temporary files.
  func random() -> UInt64

  /// The status that a task gets to see in place of the system's.
  func status(_ status: FileStatus) -> FileStatus
}

extension FileEffects {
  /// The system's.
  package func status(_ status: FileStatus) -> FileStatus { status }
}
