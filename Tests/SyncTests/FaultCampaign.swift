import Foundation
import HTTPTransport
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TestServers
import TestSupport

/// Homes that record, upload and reap through a proxy that damages requests and answers.
final class FaultCampaign: Sendable {
  enum Kind: String, CaseIterable { case s3, webdav }

  let proxy: FaultProxy
  let homes: [CampaignHome]
  private let server: any FileServer

  /// Starts a server, and a proxy that damages about one request in six, the rarest fault first.
  init(_ kind: Kind) throws {
    let exercised = Guarded<[Fault: Int]>([:])
    let choice: FaultProxy.Choice = { number, request in
      var random = SeededGenerator(case: number)
      let isDue = Int.random(in: 0..<6, using: &random) == 0
      let possible = Fault.endingByThemselves.filter { $0.concerns(request) }.shuffled(
        using: &random)
      return exercised.withLock { exercised in
        let fault = possible.min { exercised[$0, default: 0] < exercised[$1, default: 0] }
        guard let fault else { return nil }
        // A fault that has not occurred yet occurs at once, but leaves every other request
        // undamaged.
        let isNew = exercised[fault] == nil && number.isMultiple(of: 2)
        guard isDue || isNew else { return nil }
        exercised[fault, default: 0] += 1
        return fault
      }
    }
    switch kind {
    case .s3: server = try RcloneS3Server()
    case .webdav: server = try LighttpdServer()
    }
    proxy = try FaultProxy(to: server.url, choice)
    let url = proxy.url
    homes = try (0..<3).map { number in
      try CampaignHome(Self.store(kind, url), seed: 1000 + number)
    }
  }

  private static func store(_ kind: Kind, _ url: String) -> any ObjectStore {
    let transport = HTTPTransport.patient()
    let store: any ObjectStore =
      switch kind {
      case .s3:
        S3Store(
          bucket: "logs", prefix: "campaign", service: S3Service(endpoint: url),
          credentials: S3Credentials(
            accessKeyID: RcloneS3Server.accessKeyID,
            secretAccessKey: RcloneS3Server.secretAccessKey),
          transport: transport, now: Timestamp.now)
      case .webdav:
        WebDAVStore(
          url: url + "/campaign", login: (ServerLogin.user, ServerLogin.password),
          transport: transport)
      }
    // Allow a slow machine any time.
    let start = ContinuousClock.now
    return RetryingStore(store, sleep: { _ in }, random: { 1 }, now: { start })
  }
}

/// One home of a campaign, and the logs of its ended sessions.
actor CampaignHome {
  private let local: TestHome
  private let store: any ObjectStore
  private var random: SeededGenerator
  private var writers: [SessionWriter] = []
  /// The logs of ended sessions, as their recorders left them.
  private var logs: [SessionID: [UInt8]] = [:]
  /// What passes reported about sessions, in order.
  private var reports: [SessionID: [String]] = [:]
  /// Sessions whose remote copy was deleted on request.
  private var condemned: Set<SessionID> = []

  init(_ store: any ObjectStore, seed: Int) throws {
    // The server's dates, which no test sets, are the machine's time.
    local = try TestHome(clock: TestClock(Int64(Date().timeIntervalSince1970 * 1000)))
    self.store = store
    random = SeededGenerator(case: seed)
  }

  /// Makes a random event, and then a tick.
  func step() async throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<3 where writers.count < 3: writers.append(try local.writer())
    case 3..<5: try endOne()
    case 5: try await reapHere()
    case 6: try await reapThere()
    case 7: try await readBack()
    default: grow()
    }
    grow()
    local.clock.advance(seconds: Int64.random(in: 1...7200, using: &random))
    try await tick()
  }

  /// One pass over everything, as by a new process.
  ///
  /// Failures are in its report, and left to the next pass.
  @discardableResult
  func tick(_ scope: RetryScope = .due) async throws -> UploadReport {
    let report = try await onePass(scope, in: context)
    for (session, text) in report.failures.map({ ($0.session, "\($0.error)") })
      + Array(report.supersededLeft) + Array(report.sealedAsSent)
      + report.sealedSessions.map({ ($0, "sealed") })
    {
      reports[session, default: []].append(text)
    }
    return report
  }

  /// Ends all running sessions.
  func endAll() throws {
    while !writers.isEmpty { try endOne() }
    local.clock.advance(seconds: 7 * 3600)
  }

  /// The problems after the last pass, one line each.
  func problems() async throws -> [String] {
    var problems: [String] = []
    let context = try context()
    for (session, log) in logs where !condemned.contains(session) {
      let folder = SessionFolder(device: local.device.deviceId, session: session)
      let remote = try await FolderListing(folder, in: store)[session, in: folder]
      guard let seal = remote.seal else {
        problems.append("\(session): no seal among \(remote.keys)")
        continue
      }
      var bytes: [UInt8] = []
      try await RemoteReader(store, knowing: nil).read(remote, upTo: seal.length) {
        bytes.append(contentsOf: $0)
      }
      if bytes != log { problems.append("\(session): \(bytes.count) bytes, not \(log.count)") }
      let isHere = FileManager.default.fileExists(atPath: local.home.files(for: session).sidecar)
      if isHere, let problem = try await Verifier(context).verify(remote).problem {
        problems.append("\(session): \(problem)")
      }
      // No duplicates, and nothing superfluous.
      let needed = remote.cover(upTo: seal.length).map(\.fileName) + [seal.fileName]
      let there = remote.keys.map { String($0.dropFirst(folder.key.count)) }
      if there.sorted() != needed.sorted() {
        problems.append(
          "\(session): \(there) where \(needed) would do; local copy: \(isHere); truncated: "
            + "\(remote.damagedSegments); revisions: \(remote.revisions.map(\.fileName)); passes: "
            + "\(reports[session] ?? [])")
      }
    }
    return problems
  }

  /// Number of ended sessions, and of those kept in the store.
  var count: (ended: Int, kept: Int) { (logs.count, logs.count - condemned.count) }

  private func context() throws -> SyncContext {
    return try SyncContext(
      home: local.home, device: local.device, store: store, machine: local.clock.machine,
      transfers: 4)
  }

  private func grow() {
    for writer in writers where Bool.random(using: &random) {
      let bytes: [UInt8] =
        switch Int.random(in: 0..<20, using: &random) {
        case 0: EditScript.random(Int.random(in: 1...200_000, using: &random), &random)
        case 1: NastyText.make(100, &random)
        default:
          (0..<Int.random(in: 1...40, using: &random)).flatMap { _ in EditScript.line(&random) }
        }
      bytes.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
  }

  private func endOne() throws {
    guard let index = writers.indices.randomElement(using: &random) else { return }
    let writer = writers.remove(at: index)
    try writer.end(.exit(0))
    logs[writer.session] = try local.log(writer.session)
  }

  private func reapHere() async throws {
    local.clock.advance(seconds: 8 * 86_400)
    let context = try context()
    let reaper = LocalReaper(context)
    // Without proof nothing is deleted.
    guard let plan = try await unlessTheStoreFails({ try await reaper.plan(Retention()) }) else {
      return
    }
    _ = try reaper.execute(plan)
  }

  private func reapThere() async throws {
    let reaper = RemoteReaper(try context(), devices: [local.device.deviceId])
    var retention = Retention()
    retention.remote = .zero
    let chosen = retention
    guard var plan = try await unlessTheStoreFails({ try await reaper.plan(chosen) }),
      plan.postponement == nil
    else { return }
    plan.remote = Array(plan.remote.shuffled(using: &random).prefix(2))
    condemned.formUnion(plan.remote.map(\.session))
    let final = plan
    _ = try await unlessTheStoreFails { try await reaper.execute(final) }
  }

  private func readBack() async throws {
    guard let session = logs.keys.sorted().randomElement(using: &random) else { return }
    let folder = SessionFolder(device: local.device.deviceId, session: session)
    let verifier = Verifier(try context())
    _ = try await unlessTheStoreFails { [store] in
      try await verifier.verify(FolderListing(folder, in: store)[session, in: folder])
    }
  }

  private func unlessTheStoreFails<Result: Sendable>(
    _ body: () async throws -> Result
  ) async throws -> Result? {
    do {
      return try await body()
    } catch is StoreError {
      return nil
    } catch is ReplicaError {
      return nil
    }
  }
}
