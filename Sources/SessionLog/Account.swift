#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The user that this process runs as, by the system's own record: cron has no login environment.
public enum Account {
  /// Login name; the number where it has none.
  public static var name: String { entry { $0.pw_name } ?? String(getuid()) }

  /// Home directory; nil for an account without a record.
  public static var home: String? { entry { $0.pw_dir } }

  private static func entry(
    _ field: (passwd) -> UnsafeMutablePointer<CChar>?
  ) -> String? {
    var record = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    return buffer.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress,
        getpwuid_r(getuid(), &record, base, buffer.count, &found) == 0, let found
      else { return nil }
      return field(found.pointee).map { String(cString: $0) }
    }
  }
}
