package import Platform
import Replica
package import SessionLog

/// What the sidecars of a home say about its seals: sessions without one, and sealed ones whose
/// remote copy is in another store, or longer than the local one.
package struct SealedCopies: Sendable, Equatable {
  /// Sessions by the store that has them, if that is not the configured one: no pass can prove
  /// them, so none deletes their local copies.
  package private(set) var elsewhere: [String: [SessionID]] = [:]
  /// Size of these sessions' logs.
  package private(set) var bytesElsewhere: ByteCount = 0
  /// Number of sessions that are not sealed, even if no pass has to visit them.
  package private(set) var unsealed = 0
  /// Sessions whose local log was changed after it was sent: the store may lack what it holds now.
  package private(set) var changed: [SessionID] = []
  /// Sessions whose local log lacks its end, which the store has.
  package private(set) var cut: [SessionID] = []

  /// Sessions whose log lost its end before that was sent.
  package private(set) var lost: [SessionID] = []

  /// Reads the sidecars of a home's sessions.
  ///
  /// - Parameter store: the location of the configured store.
  /// - Throws: ``Platform/SystemError``.
  package init(_ home: Home, store: String) throws {
    for day in try home.days() {
      for session in try home.sessions(day: day) {
        let files = home.files(for: session)
        guard let sidecar = try? Sidecar.load(files.sidecar) else {
          // It may be written soon, or again.
          unsealed += File.exists(files.marker) ? 1 : 0
          continue
        }
        guard let seal = sidecar.seal else {
          unsealed += 1
          continue
        }
        if sidecar.lost != nil { lost.append(session) }
        if sidecar.isSealedElsewhere(than: store) {
          elsewhere[seal.store, default: []].append(session)
          bytesElsewhere = [bytesElsewhere, sidecar.fileSizeBytes].total
        } else if seal.logDiffers == true, (try? LocalSession(home, session).openLog(nil)) != nil {
          changed.append(session)
        } else if let log = seal.log, log.length < seal.length, sidecar.remoteReapedAt == nil,
          sidecar.lost == nil
        {
          cut.append(session)
        }
      }
    }
  }

  /// Number of sessions in other stores.
  package var countElsewhere: Int { elsewhere.values.reduce(0) { $0 + $1.count } }
}

extension SealedCopies {
  /// Sessions in a home's trash by the store that has them, if that is not the configured one: no pass
  /// can prove them, so none deletes them before their remote copies expire.
  ///
  /// - Parameters:
  ///   - store: the location of the configured store.
  ///   - skip: called with a line for a person about each part of the trash that cannot be read.
  /// - Throws: ``Platform/SystemError``.
  package static func inTrash(
    of home: Home, elsewhereThan store: String,
    skipping skip: @escaping (String) -> Void = { _ in }
  ) throws -> [String: [SessionID]] {
    var found: [String: [SessionID]] = [:]
    let paths = try Trash(home).sidecarPaths(skipping: skip)
    for (session, path) in paths.sorted(by: { $0.key < $1.key }) {
      guard let sidecar = try? Sidecar.load(path), let seal = sidecar.seal,
        sidecar.isSealedElsewhere(than: store)
      else { continue }
      found[seal.store, default: []].append(session)
    }
    return found
  }
}
