#if canImport(Glibc)
  import CFileUser
  import Glibc
#endif

/// Runs file calls with the rights that the process was started with.
///
/// Root, working for a user, reads that user's sessions with the user's rights; the store is still
/// root's. Linux keeps the rights for file calls per thread (setfsuid(2)), so `body` must not
/// change threads.
func withOwnRights<Result, Failure: Error>(
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  #if canImport(Glibc)
    guard getuid() != geteuid() else { return try body() }
    let group = setfsgid(getgid())
    let user = setfsuid(getuid())
    defer {
      setfsuid(UInt32(bitPattern: user))
      setfsgid(UInt32(bitPattern: group))
    }
  #endif
  return try body()
}
