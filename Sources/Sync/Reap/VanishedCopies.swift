import Foundation
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Sealed sessions whose proven remote copy is gone, although this home did not delete it: somebody
/// did, or an older copy of the store took its place.
package struct VanishedCopies: Sendable, Equatable, Encodable {
  /// What is left of a session on this machine.
  package enum Rest: String, Sendable, Codable {
    /// Everything that the store lacks.
    case whole
    /// Its end: the beginning was pruned.
    case end
    /// A copy in the trash.
    case trash
    /// Nothing: the local copy was deleted once the remote one was proven.
    case nothing
  }

  /// One session.
  package struct Copy: Sendable, Equatable, Codable {
    /// The session.
    package let session: SessionID
    /// What is left of it on this machine.
    package let rest: Rest

    /// Describes a session.
    package init(_ session: SessionID, leaving rest: Rest) {
      (self.session, self.rest) = (session, rest)
    }
  }

  /// The sessions, oldest first.
  package private(set) var copies: [Copy] = []

  /// These sessions.
  package init(_ copies: [Copy] = []) { self.copies = copies }

  /// Whether there is none.
  package var isEmpty: Bool { copies.isEmpty }

  /// The sessions of which this is left.
  package func sessions(leaving rest: Rest) -> [SessionID] {
    copies.filter { $0.rest == rest }.map(\.session)
  }

  /// What the last review found, except for sessions that were sent again or deleted since; needs
  /// no request.
  package init(of context: SyncContext) {
    self.init(Record.load(context.home, store: context.store.location), of: context)
  }

  init(_ record: Record, of context: SyncContext) {
    let now = context.now()
    copies = record.found.filter { now < $0.until }.sorted { $0.session < $1.session }
      .compactMap { found in
        found.rest(in: context).map { Copy(found.session, leaving: $0) }
      }
  }

  /// Forgets what the last review found of a session that is to be sent again.
  static func forget(_ session: SessionID, of context: SyncContext) {
    var record = Record.load(context.home, store: context.store.location)
    guard record.found.contains(where: { $0.session == session }) else { return }
    record.found.removeAll { $0.session == session }
    record.doubted.remove(session)
    record.save(context.home)
  }

  /// Encodes the sessions as an array.
  package func encode(to encoder: any Encoder) throws { try copies.encode(to: encoder) }

  /// The last review's findings; in the cache: if it is lost, a review is due.
  struct Record: Codable {
    /// A session without its remote copy.
    struct Found: Codable {
      let session: SessionID
      /// The name of the seal that is gone.
      let revision: String
      /// The offset up to which the store still has the stream.
      let mark: StreamOffset
      /// Whether this machine had a copy.
      let isLocal: Bool
      /// When retention would have deleted the remote copy.
      let until: Timestamp
    }

    let store: String
    /// The last review that the store answered.
    var at: Timestamp?
    /// When the next review is due.
    var next: Timestamp?
    /// Sessions without a seal in listings of other steps, which this review examined.
    var doubted: Set<SessionID> = []
    var found: [Found] = []

    private static func path(_ home: Home) -> String { home.cachePath + "/vanished.json" }

    static func load(_ home: Home, store: String) -> Record {
      if let bytes = try? AtomicFile.read(path(home)),
        let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)),
        record.store == store
      {
        return record
      }
      return Record(store: store)
    }

    /// Saves the record; if that fails, for example on a full disk, the next pass reviews again.
    func save(_ home: Home) {
      guard let json = try? JSONEncoder().encode(self) else { return }
      try? AtomicFile.write(Array(json), to: Self.path(home), isDurable: false)
    }
  }
}

extension VanishedCopies.Record {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    store = try fields.decode(String.self, forKey: "store")
    at = try fields.decodeIfPresent(Timestamp.self, forKey: "at")
    next = try fields.decodeIfPresent(Timestamp.self, forKey: "next")
    doubted = try fields.decode(Set<SessionID>.self, forKey: "doubted")
    found = try fields.decode([Found].self, forKey: "found")
  }
}

extension VanishedCopies.Record.Found {
  /// What is left on this machine; nil if the session was sent again, or deleted on request.
  fileprivate func rest(in context: SyncContext) -> VanishedCopies.Rest? {
    let local = LocalSession(context.home, session)
    if let sidecar = try? Sidecar.load(local.files.sidecar) {
      guard sidecar.seal?.revision == revision, sidecar.remoteReapedAt == nil else { return nil }
      guard
        let log = try? local.openLog(sidecar.source)
          ?? SealedSource(of: local, context).log(of: sidecar),
        let first = try? log.afterHoles().available().lowerBound
      else { return .nothing }
      return first <= mark ? .whole : .end
    }
    if (try? Trash(context.home).sidecarPath(of: session)) != nil { return .trash }
    return isLocal ? nil : .nothing
  }
}
