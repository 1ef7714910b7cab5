import SessionLog

/// Why a path is examined again by the next pass, changed or not.
enum AttachProblem: Equatable {
  /// It could not be read.
  case unreadable(String)
  /// Its upload found other bytes than were sent as this session.
  case doubted(SessionID)
  /// Files of this folder were renamed or truncated whenever the pass looked, perhaps also in the pass
  /// before.
  case disturbed(isAgain: Bool)

  /// What a person reads about it; nil if there is nothing to do about it yet.
  var reason: String? {
    switch self {
    case .unreadable(let reason): reason
    case .doubted(let session):
      "holds other bytes than were sent as \(session); the next upload sends it again"
    case .disturbed(isAgain: false): nil
    case .disturbed(isAgain: true):
      "its files are renamed or truncated whenever an upload looks: new and rotated logs wait until it "
        + "finds the folder quiet"
    }
  }
}
