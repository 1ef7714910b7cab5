import Platform

/// The right to send and delete a home's sessions, which one process has at a time.
///
/// Executors require this value as an argument: code that sends sessions, or deletes bytes of them,
/// cannot run during an upload. Planning changes nothing that a pass may be changing, and does not need
/// it. The kernel releases the lock with the last copy of the value, or with the process.
public struct HomeLock: Sendable {
  /// The home that it locks.
  public let home: Home
  private let lock: FileLock

  /// Acquires the lock of a home; nil if another process, or another part of this one, has it.
  ///
  /// - Throws: ``Platform/SystemError``.
  public static func acquire(_ home: Home) throws -> HomeLock? {
    try FileLock.tryExclusive(home.lockPath).map { HomeLock(home: home, lock: $0) }
  }

  /// Stops the program if the lock belongs to another home: it would protect nothing.
  package func expect(_ home: Home) {
    precondition(home == self.home, "the lock of \(self.home.path) is used for \(home.path)")
  }
}
