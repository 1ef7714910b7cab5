import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A mirror in a folder where another user may write, pulled by root.
@Suite(.tags(.medium), .enabled(if: getuid() == 0, "only root can give a file away"))
struct SharedMirrorTests {
  private static let other: uid_t = 65_534
  private let site: Site
  private let writer: SessionWriter
  private let mirror: Mirror
  private var session: SessionID { writer.session }
  private var day: String { mirror.place(session) }
  private var closed: String { site.local.folder + "/closed" }

  init() async throws {
    site = try Site()
    writer = try site.local.writer()
    mirror = Mirror(of: site, linksNames: true)
    try await tick("one")
    try make(closed)
  }

  private func tick(_ text: String) async throws {
    Array("\(text)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    site.local.clock.advance(seconds: 3600)
    try await site.upload()
  }

  private func make(_ folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func give(_ path: String) throws {
    try #require(lchown(path, Self.other, Self.other) == 0)
  }

  private func link(_ path: String, to target: String, theirs: Bool) throws {
    try make(AtomicFile.directory(of: path))
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    if theirs { try give(path) }
  }

  private func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  /// Pulls, and expects a failure that names their link.
  private func expectRefusal() async throws {
    let failures = try await mirror.pull()
    #expect(failures.values.contains { "\($0)".contains("another user made") })
    #expect(try names(in: closed).isEmpty)
  }

  @Test(arguments: ["closed", "closed/missing", "../../closed"])
  func `a link of theirs to a folder of root is not followed`(target: String) async throws {
    let target = target.hasPrefix("..") ? "../" + target : site.local.folder + "/" + target
    try link(day, to: target, theirs: true)
    try await expectRefusal()
  }

  @Test func `a link of theirs in the place of the whole mirror is not followed`() async throws {
    try link(mirror.folder, to: closed, theirs: true)
    let error = #expect(throws: SystemError.self) { _ = try mirror.puller.lock() }
    #expect(error?.description.contains("another user made") == true)
    try await expectRefusal()
  }

  @Test func `nothing is made below a link of theirs to their own folder`() async throws {
    let theirs = site.local.folder + "/theirs"
    try make(theirs)
    try give(theirs)
    try link(mirror.folder, to: theirs, theirs: true)
    #expect(try await mirror.pull().values.contains { "\($0)".contains("another user made") })
    #expect(try names(in: theirs).isEmpty)
  }

  @Test func `a link of root leads to another place for a device's sessions`() async throws {
    try link(day, to: closed, theirs: false)
    #expect(try await mirror.pull().isEmpty)
    #expect(try names(in: closed).count == 2)
    #expect(try await mirror.pull().isEmpty)
  }

  @Test(arguments: [".log", ".log.partial", ".json"])
  func `a file that they put there gets no byte`(name: String) async throws {
    try make(day)
    let planted = "\(day)/\(session)\(name)"
    try Data().write(to: URL(filePath: planted))
    try give(planted)
    let theirs = try OpenFile(planted)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == site.local.log(session))
    #expect(try theirs.read(at: 0, count: 10).isEmpty)
    for name in [".log", ".json"] {
      let status = try #require(try FileStatus("\(day)/\(session)\(name)"))
      #expect(status.owner == 0 && status.rights == 0o600)
    }
  }

  @Test(arguments: [".log", ".json"])
  func `a link that they put in the place of a file leads nowhere`(name: String) async throws {
    let goal = closed + "/goal"
    try Data("goal\n".utf8).write(to: URL(filePath: goal))
    try link("\(day)/\(session)\(name)", to: goal, theirs: true)
    // A sidecar takes the link's place, a log is appended to.
    #expect(try await mirror.pull().isEmpty == (name == ".json"))
    #expect(try AtomicFile.read(goal) == Array("goal\n".utf8))
    #expect(try names(in: closed) == ["goal"])
  }

  @Test func `what is no sidecar in its place keeps no other session from being pulled`()
    async throws
  {
    try make("\(day)/\(session).json")
    let other = try site.local.session(Array("other\n".utf8))
    try await site.upload()
    let failures = try await mirror.pull()
    #expect(Array(failures.keys) == [session])
    #expect(try mirror.log(other) == site.local.log(other))
  }

  @Test func `a log that they copied is replaced by one of root's`() async throws {
    #expect(try await mirror.pull().isEmpty)
    let log = "\(day)/\(session).log"
    try give(log)
    let theirs = try OpenFile(log)
    try await tick("two")
    #expect(try await mirror.pull().isEmpty)
    #expect(try FileStatus(log)?.owner == 0)
    #expect(try mirror.log(session) == site.local.log(session))
    #expect(try theirs.status().length < Int64(mirror.log(session).count))
    #expect(try mirror.names(of: session) == ["\(session).json", "\(session).log"])
  }
}
