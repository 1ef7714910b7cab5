import ObjectStore
import Platform
import Replica
import SessionLog

/// Reads the news of one session.
struct SessionScan: Sendable {
  private let scan: AlertScan
  private let remote: RemoteSession
  private let known: AlertCursors.Session?
  private let isFirst: Bool

  init(
    _ scan: AlertScan, _ remote: RemoteSession, _ known: AlertCursors.Session?, isFirst: Bool
  ) {
    (self.scan, self.remote, self.known, self.isFirst) = (scan, remote, known, isFirst)
  }

  struct Result: Sendable {
    let session: SessionID
    var cursor: AlertCursors.Session
    var reading = AlertReading()
  }

  /// The result if object names suffice; nil if an object must be fetched.
  func readNames() -> Result? {
    var result = begin()
    guard !wantsEnd(result), !wantsFacts(result), !wantsRecords(result), !wantsProof(result)
    else { return nil }
    finish(&result)
    return result
  }

  func read() async throws -> Result {
    var result = begin()
    do {
      try await read(&result)
    } catch let error as StoreError where error.isNotFound {
      // Replaced or removed since the listing: the next pass lists it again.
    }
    return result
  }

  private func begin() -> Result {
    var result = Result(session: remote.session, cursor: known ?? AlertCursors.Session())
    result.cursor.missingSince = nil
    result.cursor.newest = remote.newest ?? result.cursor.newest
    if known == nil, !isNews || (isFirst && startedAt < oldest) {
      result.cursor.end = remote.readableEnd
    }
    return result
  }

  private var isNews: Bool { known != nil || !isFirst || isRecent }

  /// A first pass reports nothing older than this.
  private var oldest: ServerTime { scan.now - scan.newsAge }

  /// By the device's clock; if that is wrong, a first pass reports more or less of a session.
  private var startedAt: ServerTime { remote.session.startedAt.assumingSynchronizedClocks }

  private var isRecent: Bool { (remote.newest ?? startedAt) >= oldest }

  private var status: SessionStatus { remote.revision?.status ?? .active }

  /// Whether the session has ended, and a rule needs to know how.
  private func wantsEnd(_ result: Result) -> Bool {
    isNews && status != .active && result.cursor.isOpen && !isUnreadable(result)
      && scan.readsEnd(status)
  }

  /// Whether its newest revision must be read to show whether names hide how it ended.
  private func wantsProof(_ result: Result) -> Bool {
    let number = remote.revision?.number
    return isNews && remote.mayBeForged(at: scan.now) && !isUnreadable(result)
      && (number == nil || known?.revision != number)
  }

  private func wantsRecords(_ result: Result) -> Bool {
    scan.readsRecords && remote.readableEnd > result.cursor.end
  }

  /// Whether the newest revision is damaged, or not its device's.
  private func isUnreadable(_ result: Result) -> Bool {
    result.cursor.unreadable == remote.revision?.number ?? 0
  }

  private func lacksFacts(_ result: Result) -> Bool {
    result.cursor.facts == nil && !isUnreadable(result)
  }

  private func wantsFacts(_ result: Result) -> Bool {
    scan.readsSessionsForSilence && lacksFacts(result)
  }

  private func read(_ result: inout Result) async throws {
    let (isEnd, hasRecords) = (wantsEnd(result), wantsRecords(result))
    var accepted: AcceptedSession?
    if isEnd || (hasRecords && (lacksFacts(result) || remote.seal != nil)) || wantsFacts(result)
      || wantsProof(result)
    {
      accepted = try await accept(&result)
      if let sidecar = accepted?.sidecar { result.cursor.facts = SessionFacts(sidecar) }
    }
    let sidecar = accepted?.sidecar
    if isEnd {
      let crash = sidecar.map(CrashReport.init) ?? CrashReport(unreadable: remote, at: scan.now)
      let earliest = known == nil && isFirst ? oldest : scan.now - ScanSchedule.recent
      // A program that exited with 0, or ended on request, has not failed.
      let isFailure = sidecar.map { $0.status == .crashed || $0.cause?.isFailure == true } ?? true
      // Already corrected by the sidecar's clock offset, if it has one.
      let endedAt = crash.endedAt.assumingSynchronizedClocks
      if isFailure, endedAt >= earliest { result.reading.crashes.append(crash) }
    }
    if hasRecords, let facts = result.cursor.facts {
      try await readRecords(&result, facts, accepted)
    }
    finish(&result)
  }

  private func finish(_ result: inout Result) {
    if !scan.readsRecords {
      // Rules that are added later do not apply to bytes that exist already.
      result.cursor.end = max(result.cursor.end, remote.readableEnd)
    }
    result.cursor.revision = remote.revision?.number ?? 0
    // The device may still report how the session ended.
    if !isUnreadable(result) { result.cursor.status = status }
    let isRead = result.cursor.end >= remote.readableEnd
    if status != .active, isRead, !scan.readsSessionsForSilence { result.cursor.facts = nil }
  }

  /// The session with its newest revision; nil if that is damaged or not its device's, or still to
  /// come.
  private func accept(_ result: inout Result) async throws -> AcceptedSession? {
    guard remote.revision != nil || remote.mayBeForged(at: scan.now) else { return nil }
    do {
      return try await RemoteReader(scan.store, knowing: scan.keys).accept(remote)
    } catch let error as ReplicaError {
      result.reading.problems.append(AlertScan.problem(remote.session, error))
      result.cursor.unreadable = remote.revision?.number ?? 0
      return nil
    }
  }

  private func readRecords(
    _ result: inout Result, _ facts: SessionFacts, _ accepted: AcceptedSession?
  ) async throws {
    let matchers = scan.rules.filter { $0.records != nil && $0.filter.admits(facts.subject) }
    guard !matchers.isEmpty else {
      result.cursor.end = remote.readableEnd
      return
    }
    do {
      let remote = try accepted?.session() ?? remote
      let records = try RecordScan(matchers, facts, now: scan.now)
      let found = try await records.read(
        remote, from: result.cursor.end, in: scan.store, knowing: scan.keys)
      result.reading.records += found.matches
      result.cursor.end = found.end
    } catch let error as ReplicaError {
      result.reading.problems.append(AlertScan.problem(remote.session, error))
      result.cursor.end = remote.readableEnd
    }
  }
}

extension AlertScan {
  static func problem(_ session: SessionID, _ error: ReplicaError) -> String {
    "\(session): \(error); 'tidemark verify \(session)' shows the damage"
  }
}

extension CrashReport {
  /// A session with a damaged sidecar: the object's name shows that it ended, and its date when.
  fileprivate init(unreadable remote: RemoteSession, at now: ServerTime) {
    var subject = AlertSubject(device: remote.folder.device, deviceName: remote.folder.device)
    subject.session = remote.session.description
    self.init(
      subject, cause: "unknown", endedAt: (remote.newest ?? now).assumingSynchronizedClocks,
      isCrash: remote.revision?.status == .crashed)
  }
}
