import Platform

/// Simulates full disks.
extension Disk {
  /// Whether room is limited.
  var isShort: Bool { state.withLock { $0.room != nil } }

  /// Lets other programs fill the disk up to so many bytes; nil for no limit.
  func limitRoom(to bytes: Int?) { state.withLock { $0.room = bytes } }

  /// Room that a database needs for a change, in bytes.
  private static let page = 4096

  /// Takes the room that a change needs.
  ///
  /// - Returns: false if there is not enough.
  func takeRoom(for effect: FileEffect) -> Bool {
    state.withLock { state in
      guard let room = state.room else { return true }
      switch effect.kind {
      case .write(let count):
        guard count <= room else { return false }
        state.room = room - count
      case .allocate(let count):
        guard count <= Int64(room) else { return false }
        state.room = room - Int(count)
      case .open(let mode):
        return room > 0 || mode.isDisjoint(with: [.create, .new]) || File.exists(effect.path)
      case .makeDirectory: return room > 0 || File.exists(effect.path)
      case .transaction: return room >= Self.page || effect.path == ":memory:"
      default: break
      }
      return true
    }
  }

  /// Bytes that a change frees if it succeeds.
  static func freed(by effect: FileEffect) -> Int {
    func length(_ path: String) -> Int {
      guard let status = try? FileStatus(path), status.kind == .file else { return 0 }
      return Int(status.length)
    }
    return switch effect.kind {
    case .remove: length(effect.path)
    case .truncate(let rest): max(0, length(effect.path) - Int(rest))
    case .rename(let target): length(target)
    default: 0
    }
  }
}
