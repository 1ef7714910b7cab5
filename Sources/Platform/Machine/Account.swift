#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A user of this machine, from the system's user database: cron has no login environment.
public struct Account: Sendable, Equatable {
  /// Login name; the number if there is none.
  public let name: String
  /// The number.
  public let id: UInt32
  /// Number of the primary group.
  public let group: UInt32
  /// Home directory; nil for an account without a record.
  public let home: String?

  /// The user that this process runs as.
  public static var current: Account { Account(id: getuid()) }

  /// Whether this process has root's rights now.
  package static var hasRootsRights: Bool { geteuid() == 0 }

  /// The number of the user whose rights this process has now.
  package static var effective: UInt32 { geteuid() }

  /// Whether this is root.
  public var isRoot: Bool { id == 0 }

  /// The account with a number; it need not have a record.
  public init(id: UInt32) {
    self =
      Self.find { getpwuid_r(id, $0, $1, $2, $3) }
      ?? Account(name: String(id), id: id, group: id, home: nil)
  }

  /// The account with a name, or with a number that has no name; nil if there is none.
  public init?(named name: String) {
    if let found = Self.find({ getpwnam_r(name, $0, $1, $2, $3) }) {
      self = found
    } else if let id = UInt32(name), Account(id: id).name == name {
      self.init(id: id)
    } else {
      return nil
    }
  }

  /// Maximum number of accounts listed.
  private static let mostListed = 10_000

  /// The accounts that the system lists, which need not be all.
  package static func listed() -> [Account] {
    var accounts: [Account] = []
    setpwent()
    defer { endpwent() }
    while accounts.count < mostListed, let record = getpwent() {
      guard let name = record.pointee.pw_name else { continue }
      accounts.append(
        Account(
          name: String(cString: name), id: record.pointee.pw_uid, group: record.pointee.pw_gid,
          home: record.pointee.pw_dir.map { String(cString: $0) }))
    }
    return accounts
  }

  private init(name: String, id: UInt32, group: UInt32, home: String?) {
    self.name = name
    self.id = id
    self.group = group
    self.home = home
  }

  private typealias Lookup = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
    UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  private static func find(_ lookUp: Lookup) -> Account? {
    var record = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    return buffer.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, lookUp(&record, base, buffer.count, &found) == 0,
        let found, let name = found.pointee.pw_name
      else { return nil }
      return Account(
        name: String(cString: name), id: found.pointee.pw_uid, group: found.pointee.pw_gid,
        home: found.pointee.pw_dir.map { String(cString: $0) })
    }
  }
}
