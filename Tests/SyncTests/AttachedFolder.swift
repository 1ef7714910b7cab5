import Foundation
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// An attached folder in which other programs write logs; a tick is a pass of a new process.
struct AttachedFolder {
  var site: Site
  let path: String
  var sources: [LogSource]

  init(_ patterns: String..., idleEnd: Int64 = 10 * 86_400) throws {
    site = try Site(clock: ShiftedTime.clock())
    path = site.local.folder + "/logs"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let folder = path
    sources = patterns.compactMap { pattern in
      SourcePattern("\(folder)/\(pattern)").map { LogSource(path: $0, idleEnd: .seconds(idleEnd)) }
    }
  }

  /// One pass: observation of the files, and the upload.
  ///
  /// - Parameters:
  ///   - seconds: how far the clock advances before it. Up to an hour only changed files are read,
  ///     after more than that all are.
  ///   - isDisturbed: whether files move meanwhile, so that a session may have to wait for the next
  ///     pass.
  @discardableResult
  func tick(
    after seconds: Int64 = 0, within time: Duration? = nil, isDisturbed: Bool = false
  ) async throws -> AttachPlan {
    await Task.yield()
    site.local.clock.advance(seconds: seconds)
    try site.local.home.create()
    let context = try site.context()
    let attacher = try Attacher(context, sources: sources)
    let plan = try attacher.plan()
    try attacher.execute(plan)
    let uploader = Uploader(context)
    let report = try await uploader.execute(uploader.plan(.transient), within: time)
    if !isDisturbed, let failure = report.failures.first { throw failure.error }
    return plan
  }

  /// Makes a path one that could not be read last time.
  func recordProblem(at name: String) throws {
    try AttachedFiles(site.local.home).save([file(name): .unreadable("unreadable")])
  }

  /// A pass that cannot reach the store.
  func tickWithoutStore() throws {
    let attacher = try Attacher(site.context(), sources: sources)
    try attacher.execute(attacher.plan())
  }

  /// Deletes local copies that are in the store.
  func reap() async throws {
    site.local.clock.advance(seconds: 2)
    let reaper = try LocalReaper(site.context())
    var retention = Retention().asking(.seconds(1))
    retention.isForced = true
    _ = try reaper.execute(try await reaper.plan(retention))
  }

  /// A pass whose process dies after some of the changes, before the upload.
  func dyingTick(after count: Int) async throws {
    let attacher = try Attacher(site.context(), sources: sources)
    let plan = try attacher.plan()
    try attacher.start(plan)
    var linked: Set<SessionID> = []
    for change in plan.changes.prefix(count) { try attacher.carryOut(change, noting: &linked) }
  }

  /// Makes the next pass start without a cache.
  func loseCache() throws {
    let cache = site.local.home.cachePath
    for name in try FileManager.default.contentsOfDirectory(atPath: cache)
    where name.hasPrefix("attached") {
      try FileManager.default.removeItem(atPath: "\(cache)/\(name)")
    }
  }

  /// Deletes a session's local copy as a user does.
  func delete(_ session: SessionID) async throws {
    let context = try site.context()
    let deletion = Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "test")
    for outcome in try await deletion.delete(session, local: true, remote: nil) {
      #expect(outcome.error == nil)
    }
  }

  func problems() async throws -> [String: String] {
    try Attacher(site.context(), sources: sources).problems()
  }

  /// The file of a session, as the next pass will know it.
  func known(_ session: SessionID) throws -> Sidecar.Source? {
    try AttachedFiles(site.local.home).of(session)?.source
  }

  // MARK: Files

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Appends lines to a file, which may be new: `line 7` with some padding.
  func append(_ lines: Range<Int>, to name: String, filling: Int = 40) throws {
    try append(lines.map { Self.line($0, filling) }.joined(), to: name)
  }

  func append(_ text: String, to name: String) throws {
    if !exists(name) { try Data().write(to: URL(filePath: file(name))) }
    let handle = try FileHandle(forWritingTo: URL(filePath: file(name)))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  func truncate(_ name: String) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: file(name)))
    try handle.truncate(atOffset: 0)
    try handle.close()
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  func rename(_ old: String, to new: String) throws {
    try? FileManager.default.removeItem(atPath: file(new))
    try FileManager.default.moveItem(atPath: file(old), toPath: file(new))
  }

  func copy(_ old: String, to new: String) throws {
    try? FileManager.default.removeItem(atPath: file(new))
    try FileManager.default.copyItem(atPath: file(old), toPath: file(new))
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  func modified(_ name: String, ago seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: file(name))
  }

  /// Runs a shell command in the folder.
  @discardableResult
  func run(_ command: String) async throws -> Int32 {
    let script = "cd '\(path)' && PATH=$PATH:/usr/sbin:/sbin && \(command)"
    return try await Command(["/bin/bash", "-c", script]).run().status
  }

  static func line(_ number: Int, _ filling: Int = 40) -> String {
    "line \(number) \(String(repeating: "abcdefg ", count: filling / 8))\n"
  }

  // MARK: Sessions

  /// All sidecars, oldest first.
  func sidecars() throws -> [Sidecar] {
    let home = site.local.home
    return try home.sessions()
      .map { try Sidecar.load(home.files(for: $0).sidecar) }
      // Ids of one second are in any order.
      .sorted { ($0.startedAt, $0.sessionId) < ($1.startedAt, $1.sessionId) }
  }

  /// The store's copy of a session, as text.
  func remote(_ session: SessionID) async throws -> String {
    String(decoding: try await site.remoteBytes(session), as: UTF8.self)
  }

  /// The store's copy of the only session.
  func onlyRemote() async throws -> String {
    let sidecars = try sidecars()
    return sidecars.count == 1 ? try await remote(sidecars[0].sessionId) : "\(sidecars.count)"
  }

  /// The texts of all sessions in the store, by session.
  private func remotes() async throws -> [SessionID: String] {
    let store = site.local.folder + "/store"
    let names = FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
    let sessions = Set(
      names.compactMap { SessionID(String($0.split(separator: "/").last?.prefix(25) ?? "")) })
    var texts: [SessionID: String] = [:]
    for session in sessions { texts[session] = try await remote(session) }
    return texts
  }

  /// The numbers of the lines in the store by session, in the order of their first.
  func remoteLines() async throws -> [[Int]] {
    try await remotes().values.map { text in
      text.split(separator: "\n").compactMap { line in
        line.hasPrefix("line ") ? Int(line.split(separator: " ")[1]) : nil
      }
    }
    .sorted { ($0.first ?? .max) < ($1.first ?? .max) }
  }

  /// The lines in the store that report missing bytes.
  func gaps() async throws -> [String] {
    try await remotes().sorted { $0.key < $1.key }.flatMap { _, text in
      text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("[GAP ") }
    }
  }

  /// Expects this number of sealed sessions, each complete.
  func expectSealed(_ count: Int) async throws {
    var sealed = 0
    for sidecar in try sidecars() where try await site.remote(sidecar.sessionId).seal != nil {
      sealed += 1
      #expect(try site.local.home.openSessions().contains(sidecar.sessionId) == false)
    }
    #expect(sealed == count)
  }
}
