import Foundation
import ObjectStore
package import Platform
import Replica
package import SessionLog

/// Remote copies of this home's sessions in which the last verification found something missing or
/// damaged.
package struct DamagedCopies: Sendable, Equatable, Encodable {
  /// One session.
  package struct Copy: Sendable, Equatable, Codable {
    /// The session.
    package let session: SessionID
    /// The problem, for a person.
    package let problem: String
    /// When it was found.
    package let at: Timestamp
    /// The seal that this home knew; nil for a session that it did not have as sealed.
    fileprivate var revision: String?
    /// Whether the session was on this machine.
    fileprivate var wasLocal: Bool
    /// When retention deletes the remote copy, if the session was not on this machine.
    fileprivate var until: Timestamp

    enum CodingKeys: CodingKey { case session, problem, at, revision, wasLocal, until }
  }

  /// The result of verifying one session.
  package struct Result: Sendable {
    /// The session.
    package let session: SessionID
    /// The problem; nil if there is none.
    package let problem: String?

    /// Describes a result.
    package init(_ session: SessionID, problem: String?) {
      (self.session, self.problem) = (session, problem)
    }
  }

  /// The sessions, oldest first.
  package private(set) var copies: [Copy] = []
  /// The recorded ones, also those that do not count at present: they may again once their session is
  /// gone.
  private var recorded: [Copy] = []
  private let store: String
  private let home: Home

  /// Whether there is none.
  package var isEmpty: Bool { copies.isEmpty }

  /// What is known of a home's sessions in a store, except for those that were sealed again or
  /// deleted since; needs no request.
  ///
  /// - Parameter store: the location of the configured store.
  package init(_ home: Home, store: String, at now: Timestamp) {
    (self.home, self.store) = (home, store)
    guard let bytes = try? AtomicFile.read(Self.path(home)),
      let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)),
      record.store == store
    else { return }
    recorded = record.found
    copies = recorded.filter { isCurrent($0, at: now) }
  }

  /// What is known now of the sessions of a context's home in its store; needs no request.
  package init(of context: SyncContext) {
    self.init(context.home, store: context.store.location, at: context.now())
  }

  /// Whether a session's copy was found damaged by its last verification.
  func has(_ session: SessionID) -> Bool { copies.contains { $0.session == session } }

  /// What the last verification found damaged of a session's copy, and what mends it; nil for nothing.
  func finding(of session: SessionID) -> String? {
    copies.first { $0.session == session }.map { found in
      "its remote copy was found damaged on \(found.at): \(found.problem); 'tidemark verify --repair "
        + "\(session)' mends it"
    }
  }

  /// Refuses a session whose copy was found damaged by its last verification.
  func expectUndamaged(_ session: SessionID) throws(Doubt) {
    if let finding = finding(of: session) { throw Doubt(finding) }
  }

  /// Records the results of a verification.
  ///
  /// - Parameters:
  ///   - results: the sessions that were verified.
  ///   - retention: how long sessions are kept in the store.
  ///   - now: the time.
  /// - Throws: ``Platform/SystemError``.
  package mutating func record(
    _ results: [Result], keptFor retention: Duration, at now: Timestamp
  ) throws {
    let verified = Set(results.map(\.session))
    copies.removeAll { verified.contains($0.session) }
    copies += results.compactMap { result in
      result.problem.map { problem in
        let sidecar = sidecar(of: result.session)
        return Copy(
          session: result.session, problem: problem, at: now, revision: sidecar?.seal?.revision,
          wasLocal: sidecar != nil, until: now + retention)
      }
    }
    try save()
  }

  /// Forgets the damage of a session that has no copies any more.
  ///
  /// - Throws: ``Platform/SystemError``.
  mutating func forget(_ session: SessionID) throws {
    copies.removeAll { $0.session == session }
    try save()
  }

  private mutating func save() throws {
    copies.sort { $0.session < $1.session }
    guard copies != recorded else { return }
    let json = try JSONEncoder().encode(Record(store: store, found: copies))
    try AtomicFile.write(Array(json) + [0x0a], to: Self.path(home), isDurable: false)
    recorded = copies
  }

  /// Encodes the sessions as an array.
  package func encode(to encoder: any Encoder) throws {
    var array = encoder.unkeyedContainer()
    for copy in copies {
      var fields = array.nestedContainer(keyedBy: Copy.CodingKeys.self)
      try fields.encode(copy.session, forKey: .session)
      try fields.encode(copy.problem, forKey: .problem)
      try fields.encode(copy.at, forKey: .at)
    }
  }

  package static func == (one: DamagedCopies, other: DamagedCopies) -> Bool {
    one.copies == other.copies
  }

  /// In the cache: if it is lost, the next verification finds the same.
  private struct Record: Codable {
    let store: String
    let found: [Copy]
  }

  private static func path(_ home: Home) -> String { home.cachePath + "/damaged.json" }

  private func sidecar(of session: SessionID) -> Sidecar? {
    try? LocalSession(home, session).sidecarPath().flatMap { try Sidecar.load($0) }
  }

  private func isCurrent(_ found: Copy, at now: Timestamp) -> Bool {
    if let sidecar = sidecar(of: found.session) {
      return sidecar.seal?.revision == found.revision && sidecar.remoteReapedAt == nil
    }
    guard !found.wasLocal || found.revision != nil, now < found.until else { return false }
    let deletions = (try? DeletionLedger(home).entries { $0 == found.session }) ?? []
    return !deletions.contains {
      $0.at >= found.at && $0.failure == nil && $0.copy == .remote
        && [.asked, .expired].contains($0.ground)
    }
  }
}
