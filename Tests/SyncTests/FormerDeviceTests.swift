import Foundation
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// A home whose device id has changed finds what it sent under the former ones.
@Suite(.tags(.medium)) struct FormerDeviceTests {
  enum Change: CaseIterable { case otherMachine, lostRecord }

  private func listings(_ site: Site) -> Int {
    site.store.takeRequests().count { $0.hasPrefix("LIST") }
  }

  @Test(arguments: Change.allCases)
  func `a sealed session is found under the id that sealed it`(_ change: Change) async throws {
    var site = try Site()
    try site.identify(as: "one")
    let session = try site.local.session(Array("one\ntwo\n".utf8))
    try await site.upload()
    let former = site.device.deviceId
    try site.undergo(change)
    let context = try site.context()
    let catalog = site.catalog(context)

    let entry = try #require(try await catalog.entries(devices: site.device.ids).first)
    let remote = try #require(entry.remote)
    #expect(remote.folder.device == former && entry.uploaded == entry.length)
    let finding = try await Verifier(context).verify(remote)
    #expect(finding.problem == nil && finding.comparedLocally, "\(finding)")
    let named = try await catalog.entry(
      matching: session.description, devices: catalog.devices(for: [session.description]))
    #expect(named.remote?.seal != nil)
    let devices = site.device.ids + (try catalog.sealingDevices(besides: site.device.ids))
    #expect(devices == [site.device.deviceId, former])
    let puller = Puller(site.store, into: site.local.folder + "/mirror", knowing: nil)
    #expect(try await puller.plan(devices: devices).map(\.remote.session) == [session])

    // Without the local copy, only the device record knows the former id.
    try FileManager.default.removeItem(atPath: site.local.folder + "/home/sessions")
    let left = try await catalog.entries(devices: site.device.ids).map(\.session)
    #expect(left == (change == .otherMachine ? [session] : []))
  }

  /// Only the ledger names the session any more, and not the id under which it was sent.
  @Test(arguments: Change.allCases)
  func `a session under a former id is not reported as lost`(_ change: Change) async throws {
    var site = try Site()
    try site.identify(as: "one")
    try site.local.session(Array("one\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7200)
    let reaper = LocalReaper(try site.context())
    var retention = Retention().asking(.seconds(1))
    retention.trash = .zero
    let plan = try await reaper.plan(retention)
    #expect(try reaper.execute(plan, retention).allSatisfy { $0.error == nil })
    site.local.clock.advance(seconds: 60)
    try site.undergo(change)
    #expect(try await SealReview(site.context()).runIfDue().copies.isEmpty)
  }

  @Test func `only a home with former ids pays for them`() async throws {
    var site = try Site()
    try site.identify(as: "one")
    for text in ["one\n", "two\n"] { try site.local.session(Array(text.utf8)) }
    try await site.upload()
    _ = site.store.takeRequests()
    // The device, and its day.
    _ = try await site.catalog(site.context()).entries(devices: site.device.ids)
    #expect(listings(site) == 2)
    try site.identify(as: "two")
    _ = try await site.catalog(site.context()).entries(devices: site.device.ids)
    #expect(listings(site) == 3)
    try site.loseDevice()
    let entries = try await site.catalog(site.context()).entries(devices: site.device.ids)
    #expect(listings(site) == 2 && entries.count { $0.remote != nil } == 2)
    // Another device's sessions alone: nothing of this home is listed.
    _ = try await site.catalog(site.context()).entries(devices: ["other"], includesLocal: false)
    #expect(listings(site) == 1)
  }

  @Test func `two machines in one home send each session once each`() async throws {
    var site = try Site()
    try site.identify(as: "one")
    let writer = try site.local.writer()
    for pass in 0..<4 {
      for machine in ["one", "two"] {
        try site.identify(as: machine)
        writer.print("pass \(pass) of \(machine)")
        let report = try await site.upload()
        #expect(report.formerDevices.isEmpty == (pass > 0), "pass \(pass)")
        #expect(report.failures.isEmpty)
      }
    }
    try writer.end(.exit(0))
    for machine in ["one", "two", "one"] {
      try site.identify(as: machine)
      try await site.upload()
    }
    #expect(site.device.ids.count == 2)
    let sent = try FileManager.default.contentsOfDirectory(
      atPath: "\(site.local.folder)/store/devices")
    #expect(Set(sent) == Set(site.device.ids))
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test func `of two copies of a session the sealed one counts`() async throws {
    var site = try Site()
    try site.identify(as: "one")
    let first = site.device.deviceId
    let writer = try site.local.writer()
    writer.print("under the first id")
    try await site.upload()
    try site.identify(as: "two")
    let second = site.device.deviceId
    writer.print("under the second")
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    // The first machine comes back.
    let path = site.local.home.devicePath
    let text = try String(contentsOfFile: path, encoding: .utf8)
      .replacing(first, with: "-").replacing(second, with: first)
      .replacing("\"-\"", with: "\"\(second)\"")
    site.device = try JSONDecoder().decode(Device.self, from: Data(text.utf8))
    #expect(site.device.ids == [first, second])
    for isLocal in [true, false] {
      let found = try await site.catalog(site.context()).entries(devices: site.device.ids)
      #expect(found.map(\.remote?.folder.device) == [second], "local: \(isLocal)")
      if isLocal {
        try FileManager.default.removeItem(atPath: site.local.folder + "/home/sessions")
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `a former copy is found by its device, and deleted alone`(_ change: Change) async throws {
    var site = try Site()
    try site.identify(as: "one")
    let former = site.device.deviceId
    let writer = try site.local.writer()
    writer.print("under the first id")
    try await site.upload()
    try site.undergo(change)
    writer.print("under the second")
    try await site.upload()

    let context = try site.context()
    let catalog = site.catalog(context)
    let devices = [site.device.deviceId, former]
    for device in devices {
      let name = DeviceSession(device: device, session: writer.session).name
      let entry = try await catalog.entry(matching: name, devices: devices)
      #expect(entry.deviceSession.name == name)
      #expect(entry.location == (device == former ? .remote : .both))
    }
    let either = try await catalog.entry(matching: writer.session.description, devices: devices)
    #expect(either.device == site.device.deviceId)

    let name = DeviceSession(device: former, session: writer.session).name
    let remote = try #require(try await catalog.entry(matching: name, devices: devices).remote)
    let deletion = Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "test")
    let outcomes = try await deletion.delete(writer.session, local: false, remote: remote)
    #expect(outcomes.allSatisfy { $0.error == nil } && !outcomes.isEmpty)
    writer.print("after the deletion")
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
  }
}

extension Site {
  /// Makes the home another device.
  fileprivate mutating func undergo(_ change: FormerDeviceTests.Change) throws {
    switch change {
    case .otherMachine: try identify(as: "two")
    case .lostRecord: try loseDevice()
    }
  }

  /// Makes the home find itself on a machine with an id.
  fileprivate mutating func identify(as machineId: String) throws {
    var machine = local.clock.machine
    machine.machineId = machineId
    // The first record has this machine's own id, or none.
    if device == local.device { try File.remove(local.home.devicePath) }
    device = try Device.load(local.home, on: machine)
  }

  /// The sessions of its home, and of the store, as this device.
  fileprivate func catalog(_ context: SyncContext) -> SessionCatalog {
    var reading = ReadingContext(
      home: local.home, device: device, machine: local.clock.machine)
    reading.store = context.store
    reading.uploaded = { try context.manifest.sentBytes(of: $0) }
    return SessionCatalog(reading)
  }
}
