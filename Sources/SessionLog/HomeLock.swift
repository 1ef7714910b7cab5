import Platform

/// The right to send a home's sessions and to delete them: one process at a time has it.
///
/// Executors take this value as an argument: what sends sessions, or removes bytes of them, cannot run
/// beside an upload. Planning takes none, and may tidy up after a pass that was killed. The kernel
/// releases the lock with the last copy of the value, or with the process.
public struct HomeLock: Sendable {
  /// The home that it is for.
  public let home: Home
  private let lock: FileLock

  /// Takes the lock of a home; nil while another process, or another part of this one, has it.
  ///
  /// - Throws: ``Platform/SystemError``.
  public static func acquire(_ home: Home) throws -> HomeLock? {
    try FileLock.tryExclusive(home.lockPath).map { HomeLock(home: home, lock: $0) }
  }

  /// Stops the program where the lock is that of another home: it would protect nothing.
  package func expect(_ home: Home) {
    precondition(home == self.home, "the lock of \(self.home.path) is used for \(home.path)")
  }
}
