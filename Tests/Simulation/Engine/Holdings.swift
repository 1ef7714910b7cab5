import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

/// The readable parts of each session, by place.
struct Holdings {
  /// Positions of a recorded session's stream on this machine, by home.
  var local: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Number of bytes written to each session.
  var written: [SessionID: Int] = [:]
  /// Positions of a recorded session's stream in the trash, by home.
  var trashed: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Sessions with a hold, by home.
  var held: [Int: Set<SessionID>] = [:]
  /// Sessions with a hold in the store.
  var heldRemotely: Set<DeviceSession> = []
  /// Positions in objects that decode, by device.
  var remote: [SessionID: [String: RangeSet<Int>]] = [:]
  /// Positions in objects that have other bytes than were sent, or only a part of them.
  var damaged: [SessionID: RangeSet<Int>] = [:]
  /// Positions in mirrors, by home.
  var mirrored: [Int: [SessionID: RangeSet<Int>]] = [:]
  /// Numbers of other programs' lines in the store.
  var remoteLines: Set<Int> = []
  /// Numbers of other programs' lines on a machine, by home.
  var localLines: [Int: Set<Int>] = [:]
  /// Numbers of the newest whole revision of each session, by folder.
  var revisions: [SessionID: [String: Int]] = [:]
  /// The same of those whose name is there, whole or not.
  var namedRevisions: [SessionID: [String: Int]] = [:]
  /// When the newest object of a session was stored, in real time, in milliseconds, by device.
  var newest: [SessionID: [String: Int64]] = [:]
  /// When the newest object of a session first had its present bytes, in real time.
  var sealed: [SessionID: Int64] = [:]
  /// The time of this survey, in milliseconds.
  var time: Int64 = 0
  /// Whether the store has its marker.
  var hasMarker = false
  /// The homes that have sent something.
  var users: Set<String> = []
  /// The sessions being recorded.
  var running: Set<SessionID> = []
  /// The sessions of other programs' lines, as far as the store knows.
  var sessionsOfLines: [Int: Set<DeviceSession>] = [:]

  /// Adds an object with other bytes than its name says.
  mutating func damage(_ segment: SegmentName) {
    let (start, end) = (Int(segment.range.lowerBound), Int(segment.range.upperBound))
    damaged[segment.session, default: RangeSet()].formUnion(RangeSet(start..<end))
  }

  /// Positions of a session's stream on any machine.
  func local(_ session: SessionID) -> RangeSet<Int> {
    local.values.reduce(into: RangeSet()) { $0.formUnion($1[session] ?? RangeSet()) }
  }

  /// Positions in a session's objects of all devices.
  func remote(_ session: SessionID) -> RangeSet<Int> {
    (remote[session] ?? [:]).values.reduce(into: RangeSet()) { $0.formUnion($1) }
  }

  /// Positions in the objects of one device's session.
  func remote(_ copy: DeviceSession) -> RangeSet<Int> {
    remote[copy.session]?[copy.device] ?? RangeSet()
  }

  /// When the newest object of a session was stored, by any device.
  func newest(_ session: SessionID) -> Int64? { newest[session]?.values.max() }

  /// When the newest object of one device's session was stored.
  func newest(_ copy: DeviceSession) -> Int64? { newest[copy.session]?[copy.device] }
}
