import SessionLog

/// Why a path is examined again by the next pass, changed or not.
enum AttachProblem: Equatable {
  /// It could not be read.
  case unreadable(String)
  /// Its upload found other bytes than were sent as this session.
  case doubted(SessionID)

  /// What a person reads about it.
  var reason: String {
    switch self {
    case .unreadable(let reason): reason
    case .doubted(let session):
      "holds other bytes than were sent as \(session); the next upload sends it again"
    }
  }
}
