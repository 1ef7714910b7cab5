#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Account {
  /// Becomes this account for good: with no way back to root, whose process it was.
  ///
  /// - Throws: ``SystemError`` when it cannot; then the process must end.
  package func becomeForGood() throws {
    try Account.resumeOwnRights()
    guard getuid() != id || geteuid() != id else { return }
    #if canImport(Darwin)
      let groups = initgroups(name, Int32(bitPattern: group))
    #else
      let groups = initgroups(name, group)
    #endif
    guard groups == 0, setgid(group) == 0, setuid(id) == 0 else {
      throw SystemError(operation: "become the user", path: name, errno: errno)
    }
    // On some systems a saved id could bring root back.
    guard id == 0 || setuid(0) != 0 else {
      throw SystemError(operation: "give up root's rights for", path: name, errno: EPERM)
    }
  }
}
