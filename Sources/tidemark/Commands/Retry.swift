import ArgumentParser
import SessionLog
import SessionReading
import Sync

/// `tidemark retry`.
struct Retry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Retry failed sessions at the next upload.",
    discussion: """
      Without sessions or options that choose some, all that wait are released, and the store too when it is left alone for a \
      while because it could not be reached or rejected the login. A session whose remote copy was \
      deleted, by a person or by retention, is uploaded again only when it is named. After the store \
      has moved, or another one was configured, --moved sends the sessions that were sealed in the \
      former one as well; their copies there stay. 'tidemark status' lists what waits and why.

      With --json one object a line: session (nothing for the store), reason.

      Examples:
        tidemark retry
        tidemark retry k3f9a7c2
        tidemark retry --app billing --since yesterday
      """)

  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var span: SpanOptions
  @Flag(help: "Send what is sealed in another store than the configured one.")
  var moved = false
  @Flag(help: "Change nothing; print what would be released.")
  var dryRun = false
  @Flag(help: "One JSON object a line.")
  var json = false

  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if !sessions.ids.isEmpty, span.isChoosing {
      throw ValidationError("Use either session ids or selection options, not both.")
    }
    if moved, isChoosing || !sessions.ids.isEmpty {
      throw ValidationError("--moved goes without sessions and selection options.")
    }
  }

  private var isChoosing: Bool { sessions.isChoosing || span.isChoosing }

  func run() async throws {
    let ids = sessions.ids
    let setup = try owner.setup(diagnostics.logger())
    try sessions.choice.devices.expectOwn(setup, "retry")
    let lock = try setup.requireLock(unless: dryRun)
    let uploader = Uploader(try setup.context(store: setup.storeURL(), needsLogin: false))
    if moved { return try sendFromElsewhere(uploader, lock) }
    let waiting = try uploader.waiting()
    var released = waiting.sessions
    if isChoosing {
      let waiting = Set(released.map(\.session))
      let chosen = try await SessionCatalog(setup.reading(with: nil))
        .entries(
          devices: [], activeSince: span.since, including: { waiting.contains($0) }
        )
        .filter { sessions.choice.includes($0) && span.includes($0) }
      let wanted = Set(chosen.map(\.session))
      released.removeAll { !wanted.contains($0.session) }
    } else if ids.isEmpty {
      if let error = waiting.store?.lastError { try sayStore("\(error)") }
      if let lock { try uploader.retryStore(holding: lock) }
    } else {
      let wanted = try ids.map(ShortenedID.init)
      for (given, id) in zip(ids, wanted) where !id.mayMeanSessions(of: setup.device) {
        throw Failure(.usage, "'\(given)' names another device's session; run this on that device")
      }
      let removed = try uploader.removed { session in wanted.contains { $0.matches(session) } }
      for (given, id) in zip(ids, wanted)
      where !released.contains(where: { id.matches($0.session) })
        && !removed.contains(where: { id.matches($0) })
      {
        throw Failure(.usage, "no session '\(given)' waits; see 'tidemark status'")
      }
      for (given, id) in zip(ids, wanted) {
        let count = removed.count { id.matches($0) }
        guard count < 2 else {
          throw Failure(
            .usage,
            "'\(given)' is the start of \(count) ids of sessions whose remote copy was deleted; give "
              + "more of it")
        }
      }
      for session in removed { try release(session, uploader, lock) }
      released = released.filter { one in
        !removed.contains(one.session) && wanted.contains { $0.matches(one.session) }
      }
      if released.isEmpty { return }
    }
    for one in released {
      let isNamed = ids.contains { SessionID($0) == one.session }
      if let lock { try uploader.retry(one.session, isNamed: isNamed, holding: lock) }
      try say(one.session, one.reason)
    }
    if released.isEmpty && (isChoosing || waiting.store == nil) { Console.remark("nothing waits") }
    if let problem = try setup.storeProblem() { throw problem }
  }

  /// Allows uploading sessions that are sealed in another store.
  private func sendFromElsewhere(_ uploader: Uploader, _ lock: HomeLock?) throws {
    let copies = try uploader.sealedCopies()
    var refused = 0
    for (store, sessions) in copies.elsewhere.sorted(by: { $0.key < $1.key }) {
      for session in sessions {
        if try lock.map({ try uploader.sendFromElsewhere(session, holding: $0) }) ?? true {
          try say(session, "sealed in \(store)")
        } else {
          refused += 1
          Console.complain(
            "\(session) is sealed in \(store), and cannot be sent again: its log is not whole on this "
              + "machine, or was changed since, or 'consent:' is not 'logs'; 'tidemark delete --local "
              + "\(session)' removes what is here"
          )
        }
      }
    }
    if copies.elsewhere.isEmpty { Console.remark("no session is sealed in another store") }
    if refused > 0 { throw ExitStatus.partial }
  }

  /// Allows uploading a session again whose remote copy was deleted.
  private func release(
    _ session: SessionID, _ uploader: Uploader, _ lock: HomeLock?
  ) throws {
    guard try lock.map({ try uploader.retry(session, holding: $0) }) ?? true else {
      throw Failure(
        .usage,
        "\(session) cannot be uploaded again: its log is not whole on this machine, or 'consent:' is "
          + "not 'logs'")
    }
    try say(session, "uploaded again although its remote copy was deleted")
  }

  private struct Line: Encodable {
    let session: SessionID?
    let reason: String
  }

  private func say(_ session: SessionID, _ reason: String) throws {
    guard !json else {
      return Console.say(try Console.json(Line(session: session, reason: reason)))
    }
    Console.say("\(dryRun ? "would release" : "released") \(session): \(reason)")
  }

  private func sayStore(_ error: String) throws {
    guard !json else { return Console.say(try Console.json(Line(session: nil, reason: error))) }
    Console.say("\(dryRun ? "would" : "will") retry the store (last error: \(error))")
  }
}
