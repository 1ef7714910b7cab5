import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

/// What of each session can be read, and where.
struct Holdings {
  /// Positions of a recorded session's stream, by home.
  var local: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// How many bytes of each session were written.
  var written: [SessionID: Int] = [:]
  /// Positions of a recorded session's stream that are in the trash, by home.
  var trashed: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Sessions that a home keeps, by home.
  var held: [Int: Set<SessionID>] = [:]
  /// Sessions that are kept in the store.
  var heldRemotely: Set<SessionID> = []
  /// Positions in objects that decode.
  var remote: [SessionID: RangeSet<Int>] = [:]
  /// Positions in mirrors, by home.
  var mirrored: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Numbers of the lines of other programs that are in the store.
  var remoteLines: Set<Int> = []
  /// Numbers of the lines of other programs that are on a machine, by home.
  var localLines: [Int: Set<Int>] = [:]
  /// When the newest object of a session was stored, by the time that passes, in milliseconds.
  var newest: [SessionID: Int64] = [:]
  /// When the newest object of a session had its bytes first, by the time that passes.
  var sealed: [SessionID: Int64] = [:]
  /// When it was looked, in milliseconds.
  var time: Int64 = 0
  /// Whether the store has its marker.
  var hasMarker = false
  /// The homes that had sent something.
  var users: Set<String> = []
  /// The sessions that are being recorded.
  var running: Set<SessionID> = []
  /// The sessions that have such lines, as far as the store knows.
  var sessionsOfLines: [Int: SessionID] = [:]

  /// Positions of a session's stream that are on any machine.
  func local(_ session: SessionID) -> RangeSet<Int> {
    local.values.reduce(into: RangeSet()) { $0.formUnion($1[session] ?? RangeSet()) }
  }
}
