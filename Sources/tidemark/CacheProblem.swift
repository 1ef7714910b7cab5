import Sync

/// Why a home's cache is of no use.
enum CacheProblem: Equatable, CustomStringConvertible {
  /// It cannot be read, for this reason.
  case unreadable(String)
  /// It cannot be written.
  case diskFull

  var description: String {
    switch self {
    case .unreadable(let reason): reason
    case .diskFull: CacheError.fullDisk
    }
  }
}

extension CacheProblem: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
