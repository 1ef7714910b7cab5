#if canImport(Darwin)
  import Darwin
#else
  import CFileUser
  import Glibc
#endif

/// Lets root work for another user.
///
/// The effective user and groups of the whole process change, the real and saved ones stay root's:
/// the kernel then refuses what the user could not do, even through links in their folders, while
/// the user can neither signal nor trace the process.
extension Account {
  /// Assumes this account's rights until ``resumeOwnRights()``.
  ///
  /// - Throws: ``SystemError`` if the process is not root's; then nothing has changed.
  public func assumeRights() throws {
    guard id != geteuid() || group != getegid() else { return }
    try Self.set("the groups of", name) { setGroups() }
    try Self.set("the group of", name) { setegid(group) }
    try Self.set("the user", name) { seteuid(id) }
  }

  /// Returns to the rights that the process was started with.
  ///
  /// - Throws: ``SystemError``; the process must not continue then.
  public static func resumeOwnRights() throws {
    guard geteuid() != getuid() else { return }
    try set("the user", "root") { seteuid(getuid()) }
    try set("the group of", "root") { setegid(getgid()) }
    try set("the groups of", "root") { Account.current.setGroups() }
  }

  /// Assumes this account's rights permanently: the process cannot regain root's.
  ///
  /// The user can stop and kill the process then, but neither trace it nor read its memory: Linux
  /// lets only root inspect a process that has changed its user. Handlers of crashes are removed,
  /// because the user can send their signals: Swift's would start a program that reads the memory.
  /// For the same reason no core file is written, whatever `fs.suid_dumpable` allows: it could contain
  /// what root has read.
  ///
  /// - Throws: ``SystemError`` if the process is not root's, or could still become root.
  public func dropRights() throws {
    guard id != getuid() || id != geteuid() else { return }
    try Self.resumeOwnRights()
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS] {
      _ = signal(number, SIG_DFL)
    }
    try Self.set("the groups of", name) { setGroups() }
    try Self.set("the group of", name) { setgid(group) }
    try Self.set("the user", name) { setuid(id) }
    guard setuid(0) != 0, getuid() == id, geteuid() == id else {
      throw SystemError(operation: "become the user", path: name, errno: EPERM)
    }
    #if !canImport(Darwin)
      // After the user's change, with which the kernel takes over what the machine allows.
      try Self.set("safe from core files as", name) { forbidCoreFiles() }
    #endif
  }

  private static func set(_ what: String, _ name: String, _ call: () -> Int32) throws {
    guard call() == 0 else {
      throw SystemError(operation: "become \(what)", path: name, errno: errno)
    }
  }

  private func setGroups() -> Int32 {
    #if canImport(Darwin)
      return initgroups(name, Int32(bitPattern: group))
    #else
      return initgroups(name, group)
    #endif
  }
}
