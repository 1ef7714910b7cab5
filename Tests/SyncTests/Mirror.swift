import Foundation
import Replica
import SessionLog
@testable import Sync
import TestSupport

/// A mirror of a site's store.
struct Mirror {
  let site: Site
  let folder: String
  var puller: Puller

  init(of site: Site, linksNames: Bool = false) {
    self.site = site
    folder = site.local.folder + "/mirror"
    puller = Puller(site.store, into: folder, linksNames: linksNames, knowing: nil)
  }

  /// Pulls once; returns the failures.
  func pull() async throws -> [SessionID: any Error] {
    try await pull { _, _ in }
  }

  /// The same; reports logs that were kept.
  func pull(
    kept: (SessionID, Puller.KeptLog) -> Void
  ) async throws -> [SessionID: any Error] {
    let items = try await puller.plan(devices: [site.local.device.deviceId])
    let failures = await puller.execute(items, atOnce: 1, kept: { kept($0.session, $1) })
    return Dictionary(uniqueKeysWithValues: failures.map { ($0.key.session, $0.value) })
  }

  /// The path of a session's files, without extension.
  func place(_ session: SessionID) -> String {
    "\(folder)/\(site.local.device.deviceId)/\(session.day)"
  }

  /// The names of a session's files.
  func names(of session: SessionID) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place(session))
      .filter { $0.hasPrefix(session.description) }.sorted()
  }

  /// A file of a session by its name.
  func file(_ name: String) throws -> [UInt8] {
    guard let session = SessionID(String(name.prefix(25))) else { return [] }
    return Array(try Data(contentsOf: URL(filePath: "\(place(session))/\(name)")))
  }

  /// A session's log.
  func log(_ session: SessionID) throws -> [UInt8] { try file("\(session).log") }
}
