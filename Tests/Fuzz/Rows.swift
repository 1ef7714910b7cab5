import Foundation
import GRDB
import Platform
import SessionLog

@testable import Sync

/// A row of the manifest, in which every column may have any value of any type, is read or dropped.
func fuzzRows(_ input: [UInt8]) {
  FuzzedRows.shared.run(input)
}

private final class FuzzedRows: Sendable {
  static let shared: FuzzedRows = {
    do {
      return try FuzzedRows()
    } catch {
      fatalError("no manifest for the rows: \(error)")
    }
  }()
  private static let columns = [
    "generation", "sent", "merged", "signed", "link", "revision", "boot", "dirty", "attempts",
    "lastError", "passing", "nextAttempt", "owner",
  ]
  private let manifest: Manifest
  private let database: DatabaseQueue
  private let session: SessionID

  private init() throws {
    let folder = NSTemporaryDirectory() + "tidemark-fuzz-" + UUID().uuidString
    let home = Home(path: folder)
    try home.create()
    guard let session = SessionID("20260122t143005z-k3f9a7c2") else { throw CancellationError() }
    self.session = session
    manifest = try Manifest(home: home, store: "memory:", device: "device")
    database = try DatabaseQueue(path: home.cachePath + "/manifest.sqlite")
  }

  func run(_ input: [UInt8]) {
    var rest = input[...]
    do {
      var entry = UploadCheckpoint(boot: "boot")
      try manifest.save(&entry, of: session)
      try database.write { database in
        for column in Self.columns {
          try? database.execute(
            sql: "UPDATE session SET \(column) = ?", arguments: [Self.value(&rest)])
        }
        try? database.execute(
          sql: "INSERT OR REPLACE INTO segment SELECT store, id, ?, ?, ? FROM session",
          arguments: [Self.value(&rest), Self.value(&rest), Self.value(&rest)])
      }
      if var known = try manifest.entry(session) { try manifest.save(&known, of: session) }
      _ = try manifest.putNames(of: session)
      _ = try manifest.storeEntry()
      try manifest.forget(session)
    } catch {
      fatalError("the manifest: \(error)")
    }
  }

  private static func value(_ rest: inout ArraySlice<UInt8>) -> DatabaseValue {
    guard let kind = rest.popFirst() else { return 0.databaseValue }
    let bytes = Array(rest.prefix(Int(kind >> 2)))
    rest = rest.dropFirst(bytes.count)
    return switch kind & 3 {
    case 0: bytes.reduce(into: Int64(0)) { $0 = $0 &* 256 &+ Int64($1) }.databaseValue
    case 1: String(decoding: bytes, as: UTF8.self).databaseValue
    case 2: Data(bytes).databaseValue
    default: bytes.isEmpty ? .null : (Double(bytes[0]) * 1e17).databaseValue
    }
  }
}
