import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A recorded session whose log somebody changes after it was sent comes to an end.
@Suite(.tags(.medium)) struct ChangedLogTests {
  private let lines = (0..<40).map { "line \($0)" }

  /// What becomes of a log that is no longer written.
  enum Change: String, CaseIterable {
    case shorter, zeroed, shorterAndOther, goneOnDifferently, empty, edited, editedWithRest

    func happen(to log: inout [UInt8]) {
      switch self {
      case .shorter: log.removeLast(50)
      case .zeroed: log.replaceSubrange((log.count - 60)..., with: repeatElement(0, count: 60))
      case .shorterAndOther: log.replaceSubrange(100..., with: Array("other\n".utf8))
      case .empty: log = []
      case .edited: log[120] ^= 1
      case .goneOnDifferently:
        log.replaceSubrange((log.count - 60)..., with: repeatElement(0x79, count: 500) + [0x0a])
      case .editedWithRest:
        log[120] ^= 1
        log += Array("the rest\n".utf8)
      }
    }

    var isBeginning: Bool { self == .shorter || self == .empty }
  }

  private func upload(_ site: Site, reviews: Bool = true) async throws -> UploadReport {
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    OpenSessionReview(context).runIfDue(holding: lock)
    let uploader = Uploader(context)
    return try await uploader.execute(uploader.plan(.due), holding: lock)
  }

  private func verify(_ site: Site, _ session: SessionID) async throws -> Verifier.Finding {
    try await Verifier(site.context()).verify(site.remote(session))
  }

  @Test(arguments: Change.allCases)
  func `it is sealed as it was sent, and named once`(_ change: Change) async throws {
    let site = try Site()
    let session: SessionID
    let path: String
    do {
      let writer = try site.local.writer()
      for round in 0..<3 {
        for line in lines { writer.print("\(round) \(line)") }
        try await site.upload()
      }
      (session, path) = (writer.session, writer.files.log)
    }
    try site.local.crash(session)
    let sent = try site.local.log(session)
    var log = sent
    change.happen(to: &log)
    try Data(log).write(to: URL(filePath: path))

    let report = try await upload(site)
    #expect(report.failures.isEmpty && report.sealed == 1, "\(report.failures)")
    let reason = try #require(report.sealedAsSent[session])
    #expect(reason.contains("'tidemark import \(path)'") == !change.isBeginning, "\(reason)")
    let rest = change == .editedWithRest ? Array("the rest\n".utf8) : []
    #expect(try await site.remoteBytes(session) == sent + rest)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(log))
    #expect(try Quarantine(site.local.home).sessions().isEmpty)
    #expect(try site.local.home.openSessions().isEmpty)

    let finding = try await verify(site, session)
    if change.isBeginning {
      #expect(finding.problem == nil && finding.lostLocally == ByteCount(sent.count - log.count))
    } else {
      #expect(finding.problem?.contains("'tidemark import'") == true, "\(finding)")
    }
    // Until a person decides, status gives the reason.
    let copies = try SealedCopies(site.local.home, store: site.store.location)
    #expect(copies.changed == (change.isBeginning ? [] : [session]))
    #expect(copies.cut == (change.isBeginning ? [session] : []))
    // Nothing repairs what is whole.
    let obstacle = try await Verifier(site.context()).obstacle(to: site.remote(session))
    #expect(obstacle != nil)
    site.local.clock.advance(seconds: 8 * 86_400)
    _ = site.store.takeRequests()
    let later = try await upload(site)
    #expect(later.failures.isEmpty && later.skipped.isEmpty && later.sealedAsSent.isEmpty)
    // What only this machine has is not deleted.
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.map(\.session) == (change.isBeginning ? [session] : []))
    #expect(plan.kept.count == (change.isBeginning ? 0 : 1))
  }

  @Test func `what follows the beginning of a secret in an edited log is not sent`() async throws {
    var site = try Site()
    (site.limits.largestObject, site.limits.smallestObject) = (2 << 10, 1 << 10)
    var random = SeededGenerator(case: 1, seed: 1)
    let key = (0..<600).map { _ in "\(String(random.next(), radix: 36))\n" }.joined()
    let text =
      lines.joined(separator: "\n")
      + "\n-----BEGIN PRIVATE KEY-----\n\(key)-----END PRIVATE KEY-----\n"
    let session = try site.local.session(Array(text.utf8))
    try await site.upload(within: .zero)
    let path = site.local.home.files(for: session).log
    let log = try String(contentsOfFile: path, encoding: .utf8)
    try log.replacingOccurrences(of: "line 2", with: "LINE 2").write(
      toFile: path, atomically: false, encoding: .utf8)
    for _ in 0..<20 where try await site.remote(session).seal == nil {
      _ = try await upload(site)
    }
    let sent = String(decoding: try await site.remoteBytes(session), as: UTF8.self)
    #expect(try await site.remote(session).seal != nil)
    for line in key.split(separator: "\n") { #expect(!sent.contains(line)) }
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `the advice names the rotated parts that the store lacks`() async throws {
    let site = try Site()
    let session: SessionID
    var sent = 0
    do {
      let writer = try site.local.writer(rotateAt: 600)
      session = writer.session
      for line in lines { writer.print("sent \(line)") }
      try await site.upload()
      sent = try writer.files.parts().count
      for line in lines { writer.print("not sent \(line)") }
    }
    let log = site.local.home.files(for: session)
    try log.compressParts(format: .lines)
    let parts = try log.parts()
    try #require(sent > 2 && parts.count > sent + 1)
    // A sent part in the middle that somebody changes is where the logs part.
    let changed = parts[sent - 2]
    let length = try log.open(changed).length
    for path in [changed.plain, changed.compressed] where File.exists(path) {
      try File.remove(path)
    }
    try Data(repeating: 0x79, count: Int(length.bytes)).write(to: URL(filePath: changed.plain))
    let files =
      parts[(sent - 2)...].map { File.exists($0.plain) ? $0.plain : $0.compressed } + [log.log]
    try site.local.crash(session)
    let report = try await upload(site)
    let reason = try #require(report.sealedAsSent[session])
    for file in files { #expect(reason.contains(file), "\(reason)") }
    #expect(reason.contains("'tidemark import"))
  }

  @Test func `a running session's truncated log is sealed once its recorder has gone on`()
    async throws
  {
    let site = try Site()
    let writer = try site.local.writer()
    let former = writer.session
    for line in lines { writer.print(line) }
    try await site.upload()
    let sent = try await site.remoteBytes(former)
    try FileHandle(forWritingTo: URL(filePath: writer.files.log)).truncate(atOffset: 0)
    writer.print("meanwhile")
    // Before the recorder has noticed.
    #expect(try await upload(site).failures.map(\.session) == [former])
    site.local.clock.advance(seconds: 1)
    writer.tick()
    #expect(writer.session != former)
    writer.print("later")
    let report = try await upload(site)
    #expect(report.failures.isEmpty && report.sealedAsSent.keys.contains(former))
    #expect(try await site.remoteBytes(former) == sent)
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    let text = String(decoding: try await site.remoteBytes(writer.session), as: UTF8.self)
    #expect(text.contains("meanwhile\n") && text.contains("later\n"))
    #expect(try Quarantine(site.local.home).sessions().isEmpty)
  }

  @Test(arguments: [false, true])
  func `what was not sent of a running session's log is named as lost`(isRemoved: Bool) async throws
  {
    let site = try Site()
    let writer = try site.local.writer()
    let (former, path) = (writer.session, writer.files.log)
    for line in lines { writer.print(line) }
    try await site.upload()
    let sent = try await site.remoteBytes(former).count
    for line in lines { writer.print("not sent \(line)") }
    site.local.clock.advance(seconds: 1)
    writer.tick()
    let length = try site.local.log(former).count
    try #require(writer.session == former && length > sent)
    if isRemoved {
      try File.remove(path)
    } else {
      try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 0)
    }
    site.local.clock.advance(seconds: 1)
    writer.tick()
    #expect(writer.session != former)
    let report = try await upload(site)
    #expect(report.sealedAsSent[former]?.contains("without the last") == true, "\(report)")
    #expect(try await lost(former, in: site) == ByteCount(length - sent))
    #expect(try lostLogs(site) == [former])
    // The store's copy is not whole: nothing says so.
    #expect(try SealedCopies(site.local.home, store: site.store.location).cut.isEmpty)
  }

  /// Ways to lose a log.
  enum Loss: CaseIterable { case ended, crashed, running, cacheLost }

  @Test(arguments: Loss.allCases)
  func `without its log it is sealed as it was sent`(_ loss: Loss) async throws {
    let site = try Site()
    let (former, path): (SessionID, String)
    do {
      let writer = try site.local.writer()
      (former, path) = (writer.session, writer.files.log)
      for line in lines { writer.print(line) }
      try await site.upload()
      writer.print("not sent")
      if loss == .ended { try writer.end(.exit(0)) }
      if loss == .running {
        try File.remove(path)
        let found = try await site.upload()
        #expect(found.skipped.map(\.session) == [former] && found.sealed == 0)
        writer.tick()
        #expect(writer.session != former)
      }
    }
    if loss != .running { try File.remove(path) }
    if loss == .crashed { try site.local.crash(former) }
    if loss == .cacheLost { try FileManager.default.removeItem(atPath: site.local.home.cachePath) }
    try site.local.home.create()
    let sent = try await site.remoteBytes(former)
    let report = try await upload(site)
    #expect(report.failures.isEmpty)
    guard loss != .cacheLost else {
      #expect(report.sealedAsSent.isEmpty && report.skipped.map(\.session) == [former])
      try site.local.crash(former)
      let later = try await upload(site)
      #expect((later.failures.first?.error as? ReplicaError)?.code == .localLogChanged)
      return #expect(later.sealed == 0)
    }
    #expect(report.sealedAsSent[former]?.contains("is gone") == true, "\(report)")
    #expect(try await site.remoteBytes(former) == sent)
    let seal = try #require(try await site.remote(former).seal)
    #expect(seal.length == StreamOffset(sent.count))
    let sidecar = try Sidecar.load(site.local.home.files(for: former).sidecar)
    #expect(sidecar.fileSizeBytes == ByteCount(sent.count))
    #expect(try await verify(site, former).problem == nil)
    site.local.clock.advance(seconds: 8 * 86_400)
    let later = try await upload(site)
    #expect(later.failures.isEmpty && !later.skipped.contains { $0.session == former })
  }

  /// Whoever may write to the store must not decide how a session ends.
  @Test(arguments: [false, true])
  func `what others put does not count`(losesCache: Bool) async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    let log = try site.local.log(session)
    if !losesCache {
      site.store.plan(.failBefore(.conflict), on: "PUT", keyContaining: "terminated")
    }
    if !losesCache { _ = try await site.upload() }
    try await site.forge(Array("forged\n".utf8), at: StreamOffset(log.count), of: session)
    for _ in 0..<3 {
      site.local.clock.advance(seconds: 3_600)
      let report = try await site.upload(.all)
      #expect((report.failures.first?.error as? ReplicaError)?.code == .localLogChanged)
      #expect(report.sealed == 0)
    }
    #expect(try await site.remote(session).seal == nil)
  }

  /// What a session's seal in the store says was lost.
  private func lost(_ session: SessionID, in site: Site) async throws -> ByteCount? {
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    return try await RemoteReader(site.store, knowing: nil).read(seal, in: remote.folder).lost
  }

  private func lostLogs(_ site: Site) throws -> [SessionID] {
    try SealedCopies(site.local.home, store: site.store.location).lost
  }

  @Test(arguments: [false, true])
  func `an ended log that lost its unsent end is sealed with what is left, and named`(
    isPartlySent: Bool
  ) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let (session, path) = (writer.session, writer.files.log)
    for line in lines { writer.print(line) }
    if isPartlySent { try await site.upload() }
    writer.print("the end")
    try writer.end(.exit(0))
    let whole = try site.local.log(session)
    try Data(whole.dropLast(30)).write(to: URL(filePath: path))

    let report = try await upload(site)
    #expect(report.failures.isEmpty && report.sealed == 1)
    #expect(report.sealedAsSent[session]?.contains("lost its last 30 bytes") == true, "\(report)")
    #expect(try await site.remoteBytes(session) == whole.dropLast(30))
    #expect(try await lost(session, in: site) == 30)
    #expect(try await verify(site, session).problem == nil)
    #expect(try lostLogs(site) == [session])
    #expect(try await upload(site).sealedAsSent.isEmpty)

    // Somebody puts it back.
    try Data(whole).write(to: URL(filePath: path))
    site.local.clock.advance(seconds: 2 * 86_400)
    #expect(try await upload(site).sealedAsSent.isEmpty)
    #expect(try await site.remoteBytes(session) == whole)
    #expect(try await lost(session, in: site) == nil)
    #expect(try lostLogs(site).isEmpty)
  }

  @Test(arguments: [Consent.logs, .metadata], [false, true])
  func `an ended session whose unsent log is gone is sealed without it, and named`(
    consent: Consent, isKilled: Bool
  ) async throws {
    var site = try Site()
    site.consent = consent
    let (session, path): (SessionID, String)
    var length = ByteCount.zero
    do {
      let writer = try site.local.writer(consent: consent)
      (session, path) = (writer.session, writer.files.log)
      for line in lines { writer.print(line) }
      if !isKilled {
        try writer.end(.exit(0))
        length = ByteCount(try site.local.log(session).count)
      }
    }
    try File.remove(path)
    if isKilled { try site.local.crash(session) }
    let report = try await upload(site)
    #expect(report.failures.isEmpty && report.sealed == 1, "\(report)")
    #expect(report.sealedAsSent[session]?.contains("\(path) is gone") == true, "\(report)")
    let remote = try await site.remote(session)
    #expect(remote.seal?.length == 0 && remote.segments.isEmpty)
    #expect(remote.seal?.status == (isKilled ? .crashed : .terminated))
    #expect(try await lost(session, in: site) == length)
    #expect(try await verify(site, session).problem == nil)
    #expect(try lostLogs(site) == [session])
    site.local.clock.advance(seconds: 2 * 3600)
    let later = try await upload(site)
    #expect(later.skipped.isEmpty && later.sealed == 0 && later.sealedAsSent.isEmpty)
  }

  /// The log is there before the sidecar: a sidecar without a log was not left by a kill.
  @Test func `a recorder that is killed while it begins a session has lost nothing`() async throws {
    for lifetime in 0... {
      let site = try Site()
      let home = site.local.home
      try home.create()
      let files = TestFiles(lifetime: lifetime)
      FileEffect.$hook.withValue(files) { _ = try? site.local.writer() }
      for session in try home.openSessions() {
        let begun = home.files(for: session)
        guard File.exists(begun.sidecar) else { continue }
        #expect(File.exists(begun.log), "killed after \(lifetime)")
        try site.local.crash(session)
      }
      for _ in 0..<2 {
        site.local.clock.advance(seconds: 7200)
        let report = try await upload(site)
        #expect(report.failures.isEmpty && report.sealedAsSent.isEmpty, "killed after \(lifetime)")
      }
      #expect(try lostLogs(site).isEmpty, "killed after \(lifetime)")
      guard files.isDead else { return #expect(lifetime > 3) }
    }
  }

  @Test func `a session without its log and with a damaged sidecar stays named`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    let files = site.local.home.files(for: session)
    try File.remove(files.log)
    try Data("{".utf8).write(to: URL(filePath: files.sidecar))
    for _ in 1...3 {
      let report = try await upload(site)
      #expect(report.skipped.map(\.why) == [.logGone(files.log)])
      site.local.clock.advance(seconds: 2 * 3600)
    }
  }

  @Test func `a log that was edited after it was sealed repairs nothing`() async throws {
    let site = try Site()
    let session = try site.local.session(Array(lines.joined(separator: "\n").utf8))
    try await site.upload()
    let whole = try site.local.log(session)
    var edited = whole
    edited[120] ^= 1
    let path = site.local.home.files(for: session).log
    let remote = try await site.remote(session)
    _ = try await site.store.delete(remote.segments.map { remote.folder.key + $0.fileName })
    let left = try await site.remote(session)
    let verifier = Verifier(try site.context())
    try Data(edited).write(to: URL(filePath: path))
    let obstacle = try #require(try verifier.obstacle(to: left))
    #expect(obstacle.contains("\(path) was changed after it was sealed"), "\(obstacle)")
    try Data(whole).write(to: URL(filePath: path))
    #expect(try verifier.obstacle(to: left) == nil)
  }

  @Test func `a log that was edited after it was sent is not repaired but sealed as sent`()
    async throws
  {
    let site = try Site()
    let writer = try site.local.writer()
    let session = writer.session
    for line in lines { writer.print(line) }
    try await site.upload()
    let sent = try await site.remoteBytes(session)
    var verifier = Verifier(try site.context())
    #expect(try await verifier.obstacle(to: site.remote(session)) == nil)
    let log = try FileHandle(forUpdating: URL(filePath: writer.files.log))
    try log.seek(toOffset: 120)
    try log.write(contentsOf: Data("#".utf8))
    try log.close()
    #expect(try await verify(site, session).problem != nil)
    verifier = Verifier(try site.context())
    let obstacle = try #require(try await verifier.obstacle(to: site.remote(session)))
    #expect(obstacle.contains("was changed after it was sent"), "\(obstacle)")
    writer.print("bye")
    try writer.end(.exit(0))
    let report = try await upload(site)
    #expect(report.failures.isEmpty && report.sealedAsSent[session] != nil, "\(report)")
    let sealed = try await site.remoteBytes(session)
    #expect(sealed.starts(with: sent) && String(decoding: sealed, as: UTF8.self).contains("bye"))
  }
}
