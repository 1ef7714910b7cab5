import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// Uploads under `consent: metadata`, and after a change of consent.
@Suite(.tags(.medium)) struct ConsentTests {
  private static let marker = "only-here-4711"
  private static let category = "SecretCategory"
  private static let scenario = "SecretScenario"

  private static func write(_ writer: SessionWriter, _ text: String = marker) {
    Array("\(text)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    writer.record(.error, category: category, text, scenario: ScenarioName(scenario))
  }

  private static func metadataSite() throws -> Site {
    var site = try Site()
    site.consent = .metadata
    try site.local.enable(scenario)
    return site
  }

  private func newest(_ site: Site, _ session: SessionID) async throws -> (RevisionName, Sidecar) {
    let remote = try await site.remote(session)
    let revision = try #require(remote.revision)
    return (
      revision, try await RemoteReader(site.store, knowing: nil).read(revision, in: remote.folder)
    )
  }

  /// The content of the store, segments as the logs they hold.
  private func storeText(_ site: Site) async throws -> String {
    let folder = "\(site.local.folder)/store"
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    var text = ""
    while let path = files.nextObject() as? String {
      text += path + "\n"
      guard let content = FileManager.default.contents(atPath: "\(folder)/\(path)") else {
        continue
      }
      text += String(decoding: content, as: UTF8.self)
      guard let name = SegmentName(path.split(separator: "/").last.map(String.init) ?? "") else {
        continue
      }
      let place = SessionFolder(device: site.local.device.deviceId, session: name.session)
      var log: [UInt8] = []
      try await RemoteReader(site.store, knowing: nil).read(name, in: place) { log += $0 }
      text += String(decoding: log, as: UTF8.self)
    }
    return text
  }

  private func expectNothingOfTheLog(_ site: Site) async throws {
    let text = try await storeText(site)
    for word in [Self.marker, Self.category, Self.scenario, "SESSION START", ".zst"] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test(arguments: [ExitCause.exit(0), .exit(3), .signal(11)])
  func `with metadata consent, only revisions are sent, at start and end`(
    cause: ExitCause
  ) async throws {
    let site = try Self.metadataSite()
    let writer = try site.local.writer(rotateAt: 2000)
    Self.write(writer)
    try await site.upload()
    let (first, begun) = try await newest(site, writer.session)
    #expect(first.number == 1 && first.status == .active && begun.consent == .metadata)
    _ = site.store.takeRequests()
    for _ in 0..<50 { Self.write(writer) }
    try await site.upload()
    #expect(site.store.takeRequests() == [])

    try writer.end(cause, core: "/var/\(Self.marker)/core")
    try await site.upload()
    let requests = site.store.takeRequests()
    #expect(requests.filter { $0.hasPrefix("PUT") }.count == 1, "\(requests)")
    let (last, ended) = try await newest(site, writer.session)
    #expect(last.number == 2 && last.status == cause.status && last.length == 0)
    #expect(ended.cause == cause && ended.consent == .metadata && ended.endedAt != nil)
    #expect(ended.fileSizeBytes == ByteCount(try site.local.log(writer.session).count))
    // A failed exit is an error itself.
    #expect(ended.levels["ERROR"] == (cause == .exit(3) ? 52 : 51))
    #expect(ended.digest == nil && ended.crash == nil && ended.categories == [])
    try await expectNothingOfTheLog(site)
    #expect(try site.local.home.openSessions().isEmpty)

    try await site.upload()
    let swept = try await site.remote(writer.session)
    #expect(swept.revisions == [last])
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests() == [])
  }

  @Test func `with metadata consent, a lost recorder is reported as a crash`() async throws {
    let site = try Self.metadataSite()
    let session: SessionID
    do {
      let writer = try site.local.writer()
      Self.write(writer)
      try await site.upload()
      session = writer.session
    }
    let path = site.local.home.files(for: session).sidecar
    var sidecar = try Sidecar.load(path)
    sidecar.recorder?.bootId = "another"
    try sidecar.save(path)
    try await site.upload()
    let (last, ended) = try await newest(site, session)
    #expect(last.status == .crashed && ended.cause == .reboot)
    try await expectNothingOfTheLog(site)
  }

  @Test(arguments: [false, true])
  func `allowing logs sends open and new sessions whole, and no ended ones`(
    losesCache: Bool
  ) async throws {
    var site = try Self.metadataSite()
    let open = try site.local.writer(consent: .metadata)
    Self.write(open)
    let ended = try site.local.writer(consent: .metadata)
    Self.write(ended)
    try await site.upload()
    try ended.end(.exit(0))
    try await site.upload()
    // It begins and ends while the store is unreachable.
    let unseen = try site.local.writer(consent: .metadata)
    Self.write(unseen)
    try unseen.end(.exit(0))
    if losesCache { try FileManager.default.removeItem(atPath: site.local.home.cachePath) }
    try site.local.home.create()

    site.consent = .logs
    let new = try site.local.session(Array("new\n".utf8))
    try await site.upload()
    try await site.expectSealedAndEqual(new)
    #expect(try await newest(site, open.session).1.consent == nil)
    #expect(try await site.remoteBytes(open.session) == site.local.log(open.session))
    try open.end(.signal(11))
    try await site.upload()
    try await site.expectSealedAndEqual(open.session)
    let sealed = try await newest(site, open.session).1
    #expect(sealed.consent == nil && sealed.digest != nil && sealed.crash?.lines?.isEmpty == false)
    for session in [ended.session, unseen.session] {
      let remote = try await site.remote(session)
      #expect(remote.segments.isEmpty && remote.seal?.length == 0)
      #expect(try await newest(site, session).1.consent == .metadata)
    }
    #expect(try site.local.home.openSessions().isEmpty)
  }

  @Test(arguments: [false, true])
  func `forbidding logs stops sending them at once`(losesCache: Bool) async throws {
    var site = try Site()
    let writer = try site.local.writer()
    for text in ["sent one", "sent two"] {
      Self.write(writer, text)
      try await site.upload()
    }
    let sent = try await site.remoteBytes(writer.session)
    site.consent = .metadata
    Self.write(writer)
    if losesCache { try FileManager.default.removeItem(atPath: site.local.home.cachePath) }
    try site.local.home.create()
    _ = site.store.takeRequests()
    try await site.upload()
    let puts = site.store.takeRequests().filter { $0.hasPrefix("PUT") && $0.contains(".s0") }
    #expect(puts.count == 1 && puts[0].contains(".active."), "\(puts)")
    #expect(try await newest(site, writer.session).1.consent == .metadata)
    Self.write(writer)
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests() == [])

    try writer.end(.exit(0))
    try await site.upload()
    let (last, ended) = try await newest(site, writer.session)
    #expect(last.status == .terminated && last.length == StreamOffset(sent.count))
    #expect(ended.fileSizeBytes == ByteCount(try site.local.log(writer.session).count))
    #expect(ended.redaction?.count == 1 && ended.digest == nil)
    // Superseded objects may be deleted now; allowing logs again concerns other sessions only.
    site.consent = .logs
    for _ in 0..<2 { try await site.upload() }
    let remote = try await site.remote(writer.session)
    #expect(remote.revisions == [last] && remote.mark == StreamOffset(sent.count))
    #expect(try await site.remoteBytes(writer.session) == sent)
    #expect(try await !storeText(site).contains(Self.marker))
    let finding = try await Verifier(site.context()).verify(remote)
    #expect(finding.problem == nil && finding.isLogWithheld && finding.comparedLocally)
    #expect(finding.bytes == ByteCount(sent.count))
  }

  @Test func `a session follows several changes of consent`() async throws {
    var site = try Site()
    let writer = try site.local.writer()
    for consent in [Consent.logs, .metadata, .logs, .metadata, .logs] {
      site.consent = consent
      Self.write(writer, "under \(consent)")
      try await site.upload()
      let isWithheld = try await newest(site, writer.session).1.withholdsLog
      #expect(isWithheld == (consent == .metadata))
    }
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
  }

  /// Nothing else says that it was recorded under 'metadata'.
  @Test(arguments: ["", nil])
  func `an ended session without its sidecar waits where logs were withheld`(
    content: String?
  ) async throws {
    var site = try Self.metadataSite()
    let writer = try site.local.writer(consent: .metadata)
    Self.write(writer)
    try writer.end(.exit(0))
    let (session, path) = (writer.session, writer.files.sidecar)
    try File.remove(path)
    if let content { try Data(content.utf8).write(to: URL(filePath: path)) }
    site.consent = .logs
    let report = try await site.upload()
    #expect((report.failures.first?.error as? ReplicaError)?.code == .unknownConsent, "\(report)")
    let waiting = try Uploader(site.context()).plan(.due).skipped.map(\.why.code)
    #expect(waiting == ["consent-unknown"])
    try Uploader(site.context()).retry(session)
    #expect(try await site.upload().failures.count == 1)
    try await expectNothingOfTheLog(site)
    #expect(try site.local.home.openSessions() == [session])

    try Uploader(site.context()).retry(session, isNamed: true)
    #expect(try await site.upload().failures.isEmpty)
    try await site.expectSealedAndEqual(session)
  }

  @Test func `a store that says a log is withheld outranks a decision without it`() async throws {
    var site = try Self.metadataSite()
    let writer = try site.local.writer(consent: .metadata)
    Self.write(writer)
    try await site.upload()
    try writer.end(.exit(0))
    try File.remove(writer.files.sidecar)
    try File.remove(writer.files.uploadState)
    site.consent = .logs
    try Uploader(site.context()).retry(writer.session, isNamed: true)
    try await site.upload()
    #expect(try await newest(site, writer.session).1.consent == .metadata)
    try await expectNothingOfTheLog(site)
  }

  /// The process dies between the last revision and the local record, and the configuration
  /// changes.
  @Test func `a metadata seal is not lost when the process dies`() async throws {
    var site = try Self.metadataSite()
    let writer = try site.local.writer()
    Self.write(writer)
    try writer.end(.exit(0))
    site.store.plan(.die, on: "GET", keyContaining: ".terminated.")
    await #expect(throws: CancellationError.self) { try await site.upload() }
    site.store.revive()
    #expect(site.store.unexercised.isEmpty)
    site.consent = .logs
    try await site.upload()
    #expect(try await site.remote(writer.session).revisions.count == 1)
    try await expectNothingOfTheLog(site)
    #expect(try site.local.home.openSessions().isEmpty)
  }

  @Test func `age alone decides when a withheld log is reaped`() async throws {
    let site = try Self.metadataSite()
    let session = try site.local.session(Array("\(Self.marker)\n".utf8))
    try await site.upload()
    _ = site.store.takeRequests()
    var retention = Retention()
    retention.localMax = 1
    func plan() async throws -> ReapPlan {
      try await LocalReaper(site.context()).plan(retention)
    }
    site.local.clock.advance(seconds: 7 * 86_400 - 1)
    #expect(try await plan().isEmpty)
    #expect(try await plan().kept.map(\.session) == [session])
    site.local.clock.advance(seconds: 1)
    #expect(try await plan().local.map(\.session) == [session])
    #expect(site.store.takeRequests() == [])
  }

  @Test func `repair sends a withheld session's revision again, but no log`() async throws {
    var site = try Self.metadataSite()
    let session = try site.local.session(Array("\(Self.marker)\n".utf8))
    try await site.upload()
    _ = try await site.store.delete(site.remote(session).keys)
    site.consent = .logs
    #expect(try Verifier(site.context()).reopen(session))
    try await site.upload()
    #expect(try await newest(site, session).1.withholdsLog)
    try await expectNothingOfTheLog(site)
    #expect(try await RemoteRedaction(site.context()).plan(session) == nil)
  }

  /// An open session of which a part was sent before the consent withheld the rest.
  private static func withheld() async throws -> (Site, SessionWriter) {
    var site = try Site()
    let writer = try site.local.writer()
    write(writer, "sent")
    try await site.upload()
    site.consent = .metadata
    write(writer)
    try await site.upload()
    return (site, writer)
  }

  /// What was sent while the consent was 'logs' is lost from the store after it was withdrawn.
  @Test func `repair and retention count on what was sent of a withheld log`() async throws {
    let (made, writer) = try await Self.withheld()
    var site = made
    let session = writer.session
    let open = try await site.remote(session)
    let sent = open.mark
    #expect(sent > 0 && open.seal == nil)
    try writer.end(.exit(0))
    try await site.upload()
    site.consent = .logs
    func plan() async throws -> [SessionID] {
      try await LocalReaper(site.context()).plan(Retention()).local.map(\.session)
    }
    site.local.clock.advance(seconds: 7 * 86_400)
    #expect(try await plan() == [session])

    // Its seal alone can be made again.
    let sealed = try await site.remote(session)
    let seal = try #require(sealed.seal)
    #expect(seal.length == sent)
    _ = try await site.store.delete([sealed.folder.key + seal.fileName])
    let verifier = Verifier(try site.context())
    let unsealed = try await site.remote(session)
    #expect(try verifier.obstacle(to: unsealed) == nil)
    #expect(try await verifier.reopen(session, having: unsealed))
    try await site.upload()
    #expect(try await site.remote(session).seal?.length == sent)
    site.local.clock.advance(seconds: 7 * 86_400)
    #expect(try await plan() == [session])

    for segment in sealed.segments {
      _ = try await site.store.delete([sealed.folder.key + segment.fileName])
    }
    let left = try await site.remote(session)
    #expect(try await verifier.verify(left).problem != nil)
    #expect(try verifier.obstacle(to: left)?.contains("the first \(sent) bytes") == true)
    #expect(try await !verifier.reopen(session, having: left))
    #expect(try !verifier.reopen(session))
    try await site.upload()
    #expect(try await verifier.verify(site.remote(session)).problem != nil)
    #expect(try await plan() == [])
    #expect(try site.local.log(session).count > Int(sent.byteCount))
  }

  /// What was sent while the consent was 'logs' is lost from the store before the session ends.
  @Test(arguments: [false, true])
  func `an open session that loses what was sent of a withheld log is named and kept`(
    losesCache: Bool
  ) async throws {
    let (site, writer) = try await Self.withheld()
    let session = writer.session
    let open = try await site.remote(session)
    let segment = try #require(open.segments.first)
    let key = open.folder.key + segment.fileName
    let object = try await site.store.get(key)
    _ = try await site.store.delete([key])
    if losesCache {
      try FileManager.default.removeItem(atPath: site.local.home.cachePath)
      try site.local.home.create()
    } else {
      // A pass that lists it meanwhile forgets nothing.
      try site.context().manifest.distrustSessions()
      try await site.upload()
    }
    try writer.end(.exit(0))

    let report = try await site.upload()
    let left = try await site.remote(session)
    let verifier = Verifier(try site.context())
    if losesCache {
      #expect((report.failures.first?.error as? ReplicaError)?.code == .missingBytes)
      #expect(left.seal == nil)
    } else {
      #expect(report.failures.isEmpty)
      #expect(report.sealedAsSent[session]?.contains(segment.fileName) == true, "\(report)")
      #expect(left.seal?.length == open.mark && open.mark > 0)
      #expect(try await verifier.verify(left).problem != nil)
      #expect(try verifier.obstacle(to: left)?.contains("the first \(open.mark) bytes") == true)
    }
    func plan() async throws -> ReapPlan {
      site.local.clock.advance(seconds: 8 * 86_400)
      return try await LocalReaper(site.context()).plan(Retention())
    }
    let reaping = try await plan()
    #expect(reaping.local.isEmpty)
    if !losesCache {
      #expect(reaping.withoutCopy == [session])
      let found = try await SealReview(site.context()).runIfDue(doubting: reaping.withoutCopy)
      #expect(found.copies.map(\.session) == [session])
    }
    #expect(try site.local.log(session).count > Int(open.mark.byteCount))

    _ = try await site.store.put(key, object)
    try await site.upload(.all)
    #expect(try await site.remote(session).seal?.length == open.mark)
    #expect(try await plan().local.map(\.session) == [session])
  }

  @Test func `an open session's withheld log is expected as far as it was sent`() async throws {
    var site = try Site()
    let writer = try site.local.writer()
    Self.write(writer, "sent")
    try await site.upload()
    site.consent = .metadata
    Self.write(writer)
    try await site.upload()
    let remote = try await site.remote(writer.session)
    let verifier = Verifier(try site.context())
    #expect(try await verifier.verify(remote).problem == nil)
    for segment in remote.segments {
      _ = try await site.store.delete([remote.folder.key + segment.fileName])
    }
    let left = try await site.remote(writer.session)
    #expect(left.seal == nil && left.revision?.length == remote.mark)
    #expect(try await verifier.verify(left).problem?.contains("bytes 0 to \(remote.mark)") == true)
    try writer.end(.exit(0))
  }

  @Test func `readers report that a log is withheld`() async throws {
    let site = try Self.metadataSite()
    let session = try site.local.session(Array("\(Self.marker)\n".utf8), cause: .exit(3))
    try await site.upload()
    let length = StreamOffset(try site.local.log(session).count)
    let remote = try await site.remote(session)
    let elsewhere = try TestHome()
    let catalog = try elsewhere.catalog(site.context())
    let entries = try await catalog.entries(
      devices: [site.local.device.deviceId], includesLocal: false)
    let entry = try #require(entries.first)
    #expect(entry.sidecar.withholdsLog && entry.sidecar.cause == .exit(3))
    #expect(entry.length == length && entry.uploaded == 0)
    let finding = try await Verifier(site.context()).verify(remote)
    #expect(finding.problem == nil && finding.isLogWithheld && finding.bytes == 0)
    let follower = RemoteFollower(remote, in: site.store, knowing: nil)
    #expect(try await follower.poll().ending?.description.contains("consent: metadata") == true)

    let mirror = "\(site.local.folder)/mirror"
    let puller = Puller(site.store, into: mirror, knowing: nil)
    let items = try await puller.plan(devices: [site.local.device.deviceId])
    var told: [SessionID] = []
    let failures = await puller.execute(items, atOnce: 1, withheld: { told.append($0.session) })
    #expect(failures.isEmpty && told == [session])
    let files = FileManager.default.enumerator(atPath: mirror)?.compactMap { $0 as? String } ?? []
    #expect(files.contains { $0.hasSuffix("\(session).json") })
    #expect(!files.contains { $0.hasSuffix(".log") })
    #expect(try await puller.plan(devices: [site.local.device.deviceId]).isEmpty)
  }

  @Test(arguments: [Consent.logs, .metadata])
  func `a session that ends after an upload was allowed its log, but failed, follows the last one`(
    last: Consent
  ) async throws {
    var site = try Self.metadataSite()
    let writer = try site.local.writer(consent: .metadata)
    Self.write(writer)
    try await site.upload()
    for consent in [Consent.logs, last] {
      site.consent = consent
      site.store.plan(
        .failBefore(.unreachable), on: "PUT", keyContaining: "\(writer.session)", times: 9)
      _ = try? await site.upload()
      _ = site.store.forgetPlans()
      site.local.clock.advance(seconds: 3600)
    }
    try writer.end(.exit(0))
    site.consent = .logs
    try await site.upload()
    if last == .logs {
      try await site.expectSealedAndEqual(writer.session)
      #expect(try await newest(site, writer.session).1.consent == nil)
    } else {
      #expect(try await site.remote(writer.session).seal?.length == 0)
      try await expectNothingOfTheLog(site)
    }
  }

  @Test(.shiftedTime) func `with metadata consent, not even an attached file's path is sent`()
    async throws
  {
    var folder = try AttachedFolder("app-4711*.log")
    folder.site.consent = .metadata
    try folder.append(0..<10, to: "app-4711.log")
    try await folder.tick()
    _ = folder.site.store.takeRequests()
    try folder.append(10..<20, to: "app-4711.log")
    try await folder.tick()
    #expect(folder.site.store.takeRequests() == [])
    #expect(try folder.site.local.home.openSessions().isEmpty)
    try folder.copy("app-4711.log", to: "app-4711.1.log")
    try folder.truncate("app-4711.log")
    try folder.append(20..<30, to: "app-4711.log")
    try await folder.tick(after: 7200)
    #expect(try folder.site.local.home.openSessions().isEmpty)
    let text = try await storeText(folder.site)
    for word in [folder.path, "app-4711.", "abcdefg", ".zst"] { #expect(!text.contains(word)) }
    #expect(text.contains(".terminated.") && text.contains(".active."))

    // The open one is sent completely, the other never.
    folder.site.consent = .logs
    try folder.append(30..<40, to: "app-4711.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().filter { !$0.isEmpty } == [Array(20..<40)])
  }
}
