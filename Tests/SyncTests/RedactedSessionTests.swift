import Delta
import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

@Suite(.tags(.medium)) struct RedactedSessionTests {
  private static let secrets = [
    "AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "k-0123456789abcdef",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC",
  ]

  /// A rule that is configured later.
  private static func later() throws -> RedactionRules {
    RedactionRules(own: [try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")])
  }

  private func context(_ site: Site, _ rules: RedactionRules) throws -> SyncContext {
    var site = site
    site.redaction = rules
    return try site.context()
  }

  private func upload(_ site: Site, _ rules: RedactionRules) async throws {
    let uploader = Uploader(try context(site, rules))
    let report = try await uploader.execute(uploader.plan(.all))
    #expect(report.failures.isEmpty && report.stoppedBy == nil, "\(report)")
  }

  private func finding(_ site: Site, _ session: SessionID) async throws -> Verifier.Finding {
    try await Verifier(context(site, RedactionRules())).verify(site.remote(session))
  }

  /// The content of the store.
  private func stored(_ site: Site) throws -> [UInt8] {
    let root = site.local.folder + "/store"
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
    return paths.compactMap { FileManager.default.contents(atPath: "\(root)/\($0)") }
      .flatMap { Array($0) + [0x0a] }
  }

  private func hasSecret(_ bytes: [UInt8], _ secrets: some Sequence<String>) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    return secrets.first(where: text.contains)
  }

  private func print(_ text: String, _ writer: SessionWriter) {
    Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
  }

  /// Output of a program that prints secrets: some lines, perhaps a part of one.
  private func babble(_ writer: SessionWriter, _ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 0..<30, using: &random) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: print("token \(Self.secrets.randomElement(using: &random) ?? "") end\n", writer)
      case 1:
        let key = (0..<Int.random(in: 1..<6, using: &random)).map { _ in Self.secrets[4] + "\n" }
        print("-----BEGIN PRIVATE KEY-----\n\(key.joined())", writer)
        if Bool.random(using: &random) { print("-----END PRIVATE KEY-----\n", writer) }
      default:
        EditScript.line(&random).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      }
    }
  }

  @Test(arguments: SeededGenerator.cases(160))
  func `the uploaded log is the redacted log`(number: Int) async throws {
    var random = SeededGenerator(case: number)
    let site = try Site()
    let rotation = [0, 3_000, 40_000].randomElement(using: &random) ?? 0
    let writer = try site.local.writer(rotateAt: ByteCount(rotation))
    for _ in 0..<6 {
      babble(writer, &random)
      if Int.random(in: 0..<4, using: &random) == 0 {
        try? FileManager.default.removeItem(atPath: site.local.home.cachePath + "/manifest.sqlite")
      }
      try await upload(site, RedactionRules())
    }
    try writer.end(.exit(0))
    try await upload(site, RedactionRules())
    let raw = try site.local.log(writer.session)
    let remote = try await site.remoteBytes(writer.session)
    #expect(remote == Redactor.standard.redacted(raw, format: .lines))
    #expect(raw == (try site.local.log(writer.session)))
    #expect(hasSecret(remote, Self.secrets[..<3]) == nil)
    let finding = try await finding(site, writer.session)
    #expect(finding.problem == nil && finding.comparedLocally)
    let seal = try #require(try await site.remote(writer.session).seal)
    let folder = SessionFolder(device: site.local.device.deviceId, session: writer.session)
    let sidecar = try await RemoteReader(site.store, knowing: nil).read(seal, in: folder)
    let counts = Dictionary(
      Redactor.standard.redactions(in: raw, format: .lines).map { ($0.kind, 1) },
      uniquingKeysWith: +)
    #expect(sidecar.redacted ?? [:] == counts)
    #expect(try sidecar.redaction == [.init(from: 0, rules: RedactionRules().version())])
    #expect(access(writer.files.uploadState, F_OK) != 0)
  }

  @Test(arguments: SeededGenerator.cases(160))
  func `new rules apply to bytes that are not sent yet`(number: Int) async throws {
    var random = SeededGenerator(case: number)
    let site = try Site()
    let writer = try site.local.writer(rotateAt: [0, 3_000].randomElement(using: &random) ?? 0)
    let sets = [RedactionRules(groups: []), RedactionRules(), try Self.later()]
    var used: [RedactionRules] = []
    for rules in sets {
      for _ in 0..<2 {
        babble(writer, &random)
        print("always \(Self.secrets[3])\n", writer)
        try await upload(site, rules)
        if used.last != rules { used.append(rules) }
        let raw = try site.local.log(writer.session)
        let remote = try await site.remoteBytes(writer.session)
        #expect((raw.count - Redactor.context...raw.count).contains(remote.count))
      }
    }
    try writer.end(.exit(0))
    try await upload(site, sets[2])
    let sidecar = try Sidecar.load(writer.files.sidecar)
    let epochs = try #require(sidecar.redaction)
    // Rules bind nothing while all new lines may belong to a key that began before.
    let versions = try sets.map { try $0.version() }
    let bound = epochs.compactMap { versions.firstIndex(of: $0.rules) }
    try #require(bound.count == epochs.count)
    #expect(bound == Set(bound).sorted() && bound.last == 2)
    let raw = try site.local.log(writer.session)
    let remote = try await site.remoteBytes(writer.session)
    for (index, (epoch, set)) in zip(epochs, bound).enumerated() {
      let end = index + 1 < epochs.count ? Int(epochs[index + 1].from) : raw.count
      let masked = try Redactor(sets[set]).redacted(raw, format: .lines)
      #expect(remote[Int(epoch.from)..<end] == masked[Int(epoch.from)..<end])
    }
    // Sent bytes are proven by the rules they were sent under, not by the present ones.
    #expect(try await finding(site, writer.session).problem == nil)
    for epoch in epochs.dropFirst() {
      try FileManager.default.removeItem(
        atPath: site.local.home.rulesPath + "/\(epoch.rules).json")
    }
    let problem = try await finding(site, writer.session).problem
    #expect(problem?.contains("\(versions[2]).json") == true)
  }

  /// It no longer knows what was sent since, under the rules of then.
  @Test func `other rules bind only what is not sent when the cache was put back`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let (cache, saved) = (site.local.home.cachePath, site.local.folder + "/saved")
    print("zero\n", writer)
    try await upload(site, RedactionRules())
    try FileManager.default.copyItem(atPath: cache, toPath: saved)
    print("one a@example.com\n", writer)
    try await upload(site, RedactionRules())
    try FileManager.default.removeItem(atPath: cache)
    try FileManager.default.moveItem(atPath: saved, toPath: cache)
    print("two b@example.com\n", writer)
    let rules = RedactionRules(groups: ["email"])
    try await upload(site, rules)
    try writer.end(.exit(0))
    try await upload(site, rules)
    let remote = String(decoding: try await site.remoteBytes(writer.session), as: UTF8.self)
    #expect(remote.contains("one a@example.com\n"))
    #expect(remote.contains("two ") && !remote.contains("b@example.com"))
    #expect(try await finding(site, writer.session).problem == nil)
  }

  @Test func `no object in the store contains a secret`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for secret in Self.secrets[..<3] { print("a \(secret) b\n", writer) }
    print("-----BEGIN PRIVATE KEY-----\n\(Self.secrets[4])\n-----END PRIVATE KEY-----\n", writer)
    try await upload(site, RedactionRules())
    for secret in Self.secrets[..<3] { print("a \(secret) b\n", writer) }
    try writer.end(.exit(0))
    try await upload(site, RedactionRules())
    var bytes = try stored(site)
    #expect(!bytes.isEmpty)
    bytes += try await site.remoteBytes(writer.session)
    #expect(hasSecret(bytes, Self.secrets[..<3] + Self.secrets[4...]) == nil)
    #expect(hasSecret(try site.local.log(writer.session), [Self.secrets[4]]) != nil)
  }

  @Test func `an incomplete private key waits for its end`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    print("before\n-----BEGIN PRIVATE KEY-----\n\(Self.secrets[4])\n", writer)
    try await upload(site, RedactionRules())
    let sent = try await site.remoteBytes(writer.session)
    #expect(String(decoding: sent, as: UTF8.self).hasSuffix("before\n"))
    _ = site.store.takeRequests()
    try await upload(site, RedactionRules())
    #expect(site.store.takeRequests() == [])
    print("\(Self.secrets[4])\n-----END PRIVATE KEY-----\n", writer)
    try await upload(site, RedactionRules())
    let raw = try site.local.log(writer.session)
    let remote = try await site.remoteBytes(writer.session)
    #expect(remote == Redactor.standard.redacted(raw, format: .lines))
    #expect(hasSecret(remote, [Self.secrets[4]]) == nil)
  }

  @Test(arguments: [false, true], [false, true])
  func `forgotten rules are those of the revision, or found by comparing with the bytes sent`(
    isRaw: Bool, hasRevision: Bool
  ) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let first = isRaw ? RedactionRules(groups: []) : RedactionRules()
    print("a \(Self.secrets[0]) b\n", writer)
    try await upload(site, first)
    // As after a power failure, and with other rules configured by now.
    try FileManager.default.removeItem(atPath: writer.files.uploadState)
    if !hasRevision {
      let sent = try await site.remote(writer.session)
      _ = try await site.store.delete(sent.revisions.map { sent.folder.key + $0.fileName })
    }
    print("a \(Self.secrets[1]) \(Self.secrets[3]) b\n", writer)
    try await upload(site, Self.later())
    try writer.end(.exit(0))
    try await upload(site, Self.later())
    let epochs = try #require(try Sidecar.load(writer.files.sidecar).redaction)
    // The present rules produce the same.
    let expected = isRaw || hasRevision ? [first, try Self.later()] : [try Self.later()]
    #expect(try epochs.map(\.rules) == expected.map { try $0.version() })
    let remote = try await site.remoteBytes(writer.session)
    #expect((hasSecret(remote, [Self.secrets[0]]) != nil) == isRaw)
    #expect(hasSecret(remote, [Self.secrets[1], Self.secrets[3]]) == nil)
    #expect(try await finding(site, writer.session).problem == nil)
  }

  /// Bytes that the former engine left unmasked stay as sent; the newest binds what follows.
  @Test func `a session of a former redaction engine continues under the newest`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let former = RedactionRules(RedactionRules().rules, engine: nil)
    #expect(!String(decoding: try former.json(), as: UTF8.self).contains("engine"))
    #expect(try former.version() != RedactionRules().version())
    let coloured = "key AKIAIOSF\u{1b}[1mODNN7EXAMPLE\u{1b}[0m and \(Self.secrets[1])\n"
    print(coloured, writer)
    try await upload(site, former)
    let sent = try await site.remoteBytes(writer.session)
    #expect(hasSecret(sent, ["ODNN7EXAMPLE"]) != nil && hasSecret(sent, [Self.secrets[1]]) == nil)
    for _ in 0..<2 {
      print(coloured, writer)
      try await upload(site, RedactionRules())
    }
    try writer.end(.exit(0))
    try await upload(site, RedactionRules())
    let remote = try await site.remoteBytes(writer.session)
    #expect(remote.starts(with: sent))
    #expect(hasSecret(Array(remote[sent.count...]), ["ODNN7EXAMPLE", "AKIAIOSF"]) == nil)
    let sealed = try await site.remote(writer.session)
    #expect(sealed.generation == 1 && sealed.seal != nil)
    #expect(
      try Sidecar.load(writer.files.sidecar).redaction?.map(\.rules)
        == [former.version(), RedactionRules().version()])
    let finding = try await finding(site, writer.session)
    #expect(finding.problem == nil && finding.comparedLocally)
  }

  @Test func `rules for an unknown redaction engine are refused`() throws {
    let later = RedactionRules(RedactionRules().rules, engine: 99)
    #expect(throws: RedactionError.self) { try Redactor(later) }
  }

  @Test func `a truncated log keeps its clear text and is reported`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for _ in 0..<3 { print("a \(Self.secrets[0]) b\n", writer) }
    try await upload(site, RedactionRules())
    let sent = try await site.remoteBytes(writer.session)
    try writer.end(.exit(0))
    let handle = try #require(FileHandle(forWritingAtPath: writer.files.log))
    try handle.truncate(atOffset: UInt64(try site.local.log(writer.session).count - 70))
    let here = try site.local.log(writer.session)
    #expect(hasSecret(here, [Self.secrets[0]]) != nil)
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.sealedAsSent.keys.contains(writer.session))
    #expect(try site.local.log(writer.session) == here)
    #expect(try await site.remoteBytes(writer.session) == sent)
  }

  @Test(arguments: [false, true])
  func `a session already sent can be redacted by new rules`(isSealed: Bool) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let none = RedactionRules(groups: [])
    for number in 0..<4 {
      print(number == 1 ? "a \(Self.secrets[0]) b\n" : "line \(number)\n", writer)
      try await upload(site, none)
    }
    if isSealed {
      try writer.end(.exit(0))
      try await upload(site, none)
    }
    #expect(try hasSecret(await site.remoteBytes(writer.session), Self.secrets) != nil)

    let redaction = try RemoteRedaction(context(site, RedactionRules()))
    let item = try #require(try await redaction.plan(writer.session))
    #expect(item.segments == 1)
    let before = try FileStatus(writer.files.sidecar)
    try redaction.begin(item)
    // Until its end it is the recorder's to write.
    #expect(try isSealed || FileStatus(writer.files.sidecar) == before)
    try await upload(site, RedactionRules())
    let raw = try site.local.log(writer.session)
    #expect(
      try await site.remoteBytes(writer.session)
        == Redactor.standard.redacted(raw, format: .lines))
    #expect(try await redaction.plan(writer.session) == nil)
    if !isSealed {
      print("more \(Self.secrets[1])\n", writer)
      try writer.end(.exit(0))
      try await upload(site, RedactionRules())
    }
    try await upload(site, RedactionRules())
    let remote = try await site.remote(writer.session)
    #expect(remote.seal != nil && remote.generation == 2)
    #expect(try await finding(site, writer.session).problem == nil)
    // No object of any generation still contains it.
    for name in remote.segments where name.kind == .plain {
      var bytes: [UInt8] = []
      let object = try await site.store.get(remote.folder.key + name.fileName)
      try SegmentDecoder().decode(object, rawLength: Int(name.length)) {
        bytes.append(contentsOf: $0)
      }
      #expect(hasSecret(bytes, Self.secrets) == nil, "\(name)")
    }
  }

  @Test func `a redaction that is killed is carried out by the next pass, or has not begun`()
    async throws
  {
    for lifetime in 0... {
      let site = try Site()
      let writer = try site.local.writer()
      print("a \(Self.secrets[0]) b\n", writer)
      try writer.end(.exit(0))
      try await upload(site, RedactionRules(groups: []))
      let redaction = try RemoteRedaction(context(site, RedactionRules()))
      let item = try #require(try await redaction.plan(writer.session))
      let files = TestFiles(lifetime: lifetime)
      FileEffect.$hook.withValue(files) { _ = try? redaction.begin(item) }
      for _ in 0..<2 { try await upload(site, RedactionRules()) }
      let isBare = hasSecret(try await site.remoteBytes(writer.session), Self.secrets) != nil
      let left = try await RemoteRedaction(context(site, RedactionRules())).plan(writer.session)
      #expect(isBare == (left != nil), "killed after \(lifetime)")
      #expect(try site.local.home.openSessions().isEmpty, "killed after \(lifetime)")
      guard files.isDead else { return #expect(lifetime > 3) }
    }
  }

  /// The store may have the only copy of what was sent.
  @Test func `a local log that was changed does not replace what was sent`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("balance 1000000\na \(Self.secrets[0]) b\n".utf8))
    try await upload(site, RedactionRules(groups: []))
    let path = site.local.home.files(for: session).log
    let log = String(decoding: try site.local.log(session), as: UTF8.self)
    try log.replacing("1000000", with: "9000000").write(
      toFile: path, atomically: false, encoding: .utf8)
    let error = await #expect(throws: ReplicaError.self) {
      _ = try await RemoteRedaction(context(site, RedactionRules())).plan(session)
    }
    #expect(error?.code == .localLogChanged)
    try log.write(toFile: path, atomically: false, encoding: .utf8)
    #expect(try await RemoteRedaction(context(site, RedactionRules())).plan(session) != nil)
    var copies = DamagedCopies(
      site.local.home, store: site.store.location, at: site.local.clock.now())
    try copies.record(
      [.init(session, problem: "an object is damaged")], keptFor: .days(30),
      at: site.local.clock.now())
    await #expect(throws: ReplicaError.self) {
      _ = try await RemoteRedaction(context(site, RedactionRules())).plan(session)
    }
  }

  @Test func `a redaction that could not be sent is continued`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("a \(Self.secrets[0]) b\n".utf8))
    try await upload(site, RedactionRules(groups: []))
    let redaction = try RemoteRedaction(context(site, RedactionRules()))
    try redaction.begin(try #require(try await redaction.plan(session)))
    let item = try #require(
      try await RemoteRedaction(context(site, RedactionRules())).plan(session))
    #expect(item.segments == 1)
    try redaction.begin(item)
    try await upload(site, RedactionRules())
    #expect(try hasSecret(await site.remoteBytes(session), Self.secrets) == nil)
    #expect(try await RemoteRedaction(context(site, RedactionRules())).plan(session) == nil)
  }

  @Test func `a redaction does not pass over what the store does not show`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("a \(Self.secrets[0]) b\n".utf8))
    try await upload(site, RedactionRules(groups: []))
    site.store.hide(".log.zst")
    let error = await #expect(throws: ReplicaError.self) {
      _ = try await RemoteRedaction(context(site, RedactionRules())).plan(session)
    }
    #expect(error?.code == .missingBytes)
  }

  /// The masks of an idle log are fixed by another epoch of the same rules.
  @Test func `only other rules than those in force make a copy outdated`() async throws {
    let site = try Site()
    let redaction = try RemoteRedaction(context(site, RedactionRules()))
    let version = try RedactionRules().version()
    var sidecar = try Sidecar.load(
      site.local.home.files(for: site.local.session(Array("one\n".utf8))).sidecar)
    sidecar.redaction = [.init(from: 0, rules: version), .init(from: 4, rules: version)]
    #expect(!redaction.isOutdated(sidecar, sent: .zero))
    sidecar.redaction = [.init(from: 0, rules: try RedactionRules(groups: []).version())]
    #expect(redaction.isOutdated(sidecar, sent: .zero))
    sidecar.fileSizeBytes = 0
    #expect(!redaction.isOutdated(sidecar, sent: .zero))
    #expect(redaction.isOutdated(sidecar, sent: 4))
  }

  /// Its rules are recorded by the seal only.
  @Test func `a session whose seal could not be put yet verifies`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("a \(Self.secrets[0]) b\n".utf8))
    site.store.plan(.failBefore(.transient), on: "PUT", keyContaining: ".terminated.")
    let uploader = Uploader(try context(site, RedactionRules()))
    _ = try await uploader.execute(uploader.plan(.all))
    let remote = try await site.remote(session)
    #expect(remote.seal == nil && !remote.segments.isEmpty)
    #expect(try await finding(site, session).problem == nil)
  }

  @Test(arguments: [false, true])
  func `a mirror keeps a log beside its later redacted form, unless replacing is requested`(
    replaces: Bool
  ) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let none = RedactionRules([])
    print("a \(Self.secrets[0]) b\n", writer)
    try writer.end(.exit(0))
    try await upload(site, none)
    var mirror = Mirror(of: site)
    #expect(try await mirror.pull().isEmpty)
    let clear = try mirror.log(writer.session)
    #expect(hasSecret(clear, Self.secrets) != nil)

    let redaction = try RemoteRedaction(context(site, RedactionRules()))
    try redaction.begin(try #require(try await redaction.plan(writer.session)))
    for _ in 0..<2 { try await upload(site, RedactionRules()) }
    mirror.puller.replacesFormer = replaces
    #expect(try await mirror.pull().isEmpty)
    #expect(hasSecret(try mirror.log(writer.session), Self.secrets) == nil)
    let former = "\(writer.session).g1.log"
    #expect(try mirror.names(of: writer.session).contains(former) == !replaces)
    if !replaces { #expect(try mirror.file(former) == clear) }
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: writer.session).count == (replaces ? 2 : 3))
  }

  @Test(.shiftedTime, arguments: [false, true])
  func `an attached file already sent can be redacted by new rules`(isSealed: Bool) async throws {
    var folder = try AttachedFolder("app.log", idleEnd: 86_400)
    let site = folder.site
    let text = (0..<4_000).map { "line \($0) \(UInt64($0) &* 0x9E37_79B9_7F4A_7C15)\n" }.joined()
    try folder.append("key \(Self.secrets[3])\n\(text)", to: "app.log")
    try await folder.tick()
    // Its owner removes the key; what is sent then copies from an object that contains it.
    let masked = "key ******************\n\(text)more \(Self.secrets[3])\n"
    try masked.write(toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try await site.remote(session).cover(upTo: .max).contains { $0.kind == .delta })
    if isSealed {
      try await folder.tick(after: 2 * 86_400)
      try await folder.tick()
      #expect(try await site.remote(session).seal != nil)
    }

    let redaction = try RemoteRedaction(context(site, Self.later()))
    let item = try #require(try await redaction.plan(session))
    try redaction.begin(item)
    folder.site.redaction = try Self.later()
    try await folder.tick()
    if !isSealed { try await folder.tick(after: 2 * 86_400) }
    for _ in 0..<2 { try await folder.tick() }
    let remote = try await site.remote(session)
    #expect(remote.seal != nil)
    #expect(
      try await site.remoteBytes(session)
        == Redactor(Self.later()).redacted(Array(masked.utf8)))
    #expect(try await finding(site, session).problem == nil)
    #expect(try await redaction.plan(session) == nil)
    for name in remote.segments {
      var bytes: [UInt8] = []
      try await RemoteReader(site.store, knowing: nil).read(name, in: remote.folder) {
        bytes.append(contentsOf: $0)
      }
      #expect(hasSecret(bytes, [Self.secrets[3]]) == nil, "\(name)")
    }
  }

  @Test func `program name and categories of a sent sidecar are redacted`() async throws {
    let site = try Site()
    let writer = try site.local.writer(app: Self.secrets[0])
    writer.record(.error, category: Self.secrets[1], "no secret here")
    try await upload(site, RedactionRules())
    try writer.end(.exit(1))
    try await upload(site, RedactionRules())
    #expect(hasSecret(try stored(site), Self.secrets) == nil)
    let local = try Sidecar.load(writer.files.sidecar)
    #expect(local.appName == Self.secrets[0] && local.seal != nil)
  }

  @Test func `every free-text field of a sent sidecar is redacted`() throws {
    let site = try Site()
    let writer = try site.local.writer()
    var sidecar = try Sidecar.load(writer.files.sidecar)
    let clean = sidecar.remoteForm(redactedBy: .standard)
    #expect(clean == sidecar.remoteForm)
    sidecar.deviceName = "host \(Self.secrets[0])"
    sidecar.deviceModel = "model \(Self.secrets[0])"
    sidecar.osVersion = "system \(Self.secrets[0])"
    sidecar.appVersion = "1.2 \(Self.secrets[1])"
    sidecar.buildNumber = "7 \(Self.secrets[1])"
    sidecar.fileName = "\(Self.secrets[0]).log"
    sidecar.scenarios = [Self.secrets[0]]
    sidecar.categories = [Self.secrets[1]]
    let json = try sidecar.remoteForm(redactedBy: .standard).json()
    #expect(hasSecret(json, Self.secrets) == nil)
  }

}
