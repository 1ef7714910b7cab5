import Foundation
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

@Suite(.tags(.medium)) struct SessionCatalogTests {
  @Test func `finding named sessions costs a listing per day and a sidecar each`() async throws {
    let site = try Site()
    var sessions: [SessionID] = []
    for day in 0..<3 {
      for number in 0..<4 { sessions.append(try site.local.session("\(day) \(number)\n".utf8)) }
      site.local.clock.advance(seconds: 86_400)
    }
    try await site.upload()
    let catalog = try site.local.catalog(site.context())
    let devices = [site.local.device.deviceId]
    try FileManager.default.removeItem(atPath: site.local.folder + "/home/sessions")
    _ = site.store.takeRequests()

    let named = [sessions[0], sessions[3], sessions[4]]
    let entries = try await catalog.entries(matching: named.map(\.description), devices: devices)
    #expect(entries.map(\.session) == named)
    var requests = site.store.takeRequests()
    #expect(requests.count { $0.hasPrefix("LIST") } == 3)
    #expect(requests.count { $0.hasPrefix("GET") } == 3)

    let tail = try #require(sessions[7].description.split(separator: "-").last)
    #expect(try await catalog.entry(matching: "\(tail)", devices: devices).session == sessions[7])
    requests = site.store.takeRequests()
    #expect(requests.count { $0.hasPrefix("GET") } == 1)
    #expect(try await catalog.entries(matching: [], devices: devices).isEmpty)
    #expect(site.store.takeRequests() == [])
  }

  /// An id states only the second of the start, which does not show which session grew last.
  @Test func `a limit takes the newest sessions by their start, after --since`() async throws {
    let site = try Site()
    let old = try site.local.session(Array("still written\n".utf8))
    var sameSecond: [SessionID] = []
    site.local.clock.advance(seconds: 60)
    for number in 0..<8 {
      sameSecond.append(try site.local.session(Array("\(number)\n".utf8)))
      site.local.clock.advance(milliseconds: 1)
    }
    try await site.upload()
    let catalog = try site.local.catalog(site.context())
    let devices = [site.local.device.deviceId]
    let newest = try await catalog.entries(limit: 3, devices: devices)
    #expect(newest.map(\.session) == sameSecond.suffix(3).reversed())
    let local = SessionCatalog(catalog.context.withoutStore)
    #expect(
      try await local.entries(limit: 1, devices: []).map(\.session) == sameSecond.suffix(1))
    let since = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)) + .hours(1)
    let log = site.local.home.files(for: old).log
    let later = Date(timeIntervalSinceNow: 7200)
    try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: log)
    let grown = try await local.entries(limit: 1, devices: [], activeSince: since)
    #expect(grown.map(\.session) == [old])
  }

  @Test func `an id that matches no session or several is an error`() async throws {
    let site = try Site()
    for number in 0..<2 { try site.local.session("\(number)\n".utf8) }
    let catalog = SessionCatalog(
      ReadingContext(
        home: site.local.home, device: site.local.device, machine: .current))
    for (id, code) in [
      ("2026", LookupError.Code.several(2)), ("zzzzzzzzz", .none), ("../x", .notAnID),
    ] {
      let error = await #expect(throws: LookupError.self) {
        try await catalog.entry(matching: id, devices: [])
      }
      #expect(error?.code == code)
    }
  }

  @Test func `log bytes without the revision that their device signs are a rejected session`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let remote = try await site.remote(session)
    for revision in remote.revisions {
      try FileManager.default.removeItem(
        atPath: "\(site.local.folder)/store/\(remote.folder.key)\(revision.fileName)")
    }
    let other = try TestHome()
    try other.home.create()
    let context = try site.context()
    var reading = ReadingContext(
      home: other.home, device: other.device, machine: site.local.clock.machine)
    reading.store = context.store
    reading.keys = KnownKeys(other.home, named: [:], own: context.signer)
    let devices = [site.device.deviceId]
    var catalog = SessionCatalog(reading)
    // It can be named where it is passed over, as by those who delete.
    let found = try await catalog.lookUp([session.description], devices: devices)
    #expect(found.entries.map { $0 == nil } == [true])
    #expect(found.passedOver == [session])
    catalog.includesUndescribed = true
    let entry = try await catalog.entry(matching: session.description, devices: devices)
    #expect(entry.isRejected && entry.location == .remote && entry.remote?.segments.count == 1)
    let signed = reading
    func passedOver(besides known: Set<SessionID> = []) async throws -> Set<SessionID> {
      try await SessionCatalog(signed).undescribed(of: devices, besides: known)
    }
    // Unless it is named, it may be being sent.
    #expect(try await catalog.entries(devices: devices).isEmpty)
    #expect(try await passedOver().isEmpty)
    try site.ageStore(days: 1)
    #expect(try await passedOver() == [session])
    #expect(try await passedOver(besides: [session]).isEmpty)
    #expect(try await SessionCatalog(reading).entries(devices: devices).isEmpty)
    #expect(try await catalog.entries(devices: devices).map(\.isRejected) == [true])
    reading.keys = nil
    catalog = SessionCatalog(reading)
    catalog.includesUndescribed = true
    #expect(try await catalog.entries(devices: devices).isEmpty)
  }
}
