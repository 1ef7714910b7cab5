import ArgumentParser
import LogRecords
import Platform
import SessionLog
import SessionReading
import Sync

/// `tidemark restore ID`.
struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Bring back a session that is no longer on this machine.",
    discussion: """
      What retention deleted locally stays in the trash for a week ('retention: trash:'), and is put \
      back as it was. Else the log is read from the store, or with --from from a folder that \
      'tidemark pull' has filled, into a new session that names the old one in 'continues'; the next \
      upload sends it. What was restored before, and is still there, is not restored again. A mirror's \
      log is compared with the digest in its sidecar, and that with the device's signature; if they \
      differ, a signature is missing, or the session was still open, nothing is restored (65) without \
      --unverified. If no key of the device is known, or its version did not sign yet, the session is \
      restored and named as unverified. With --json one object: session, restored (the same id, or the new one; with --dry-run nothing), from \
      (trash, store or mirror; local if it was restored before).

      Examples:
        tidemark restore k3f9a7c2
        tidemark restore k3f9a7c2 --from mirror
      """)

  @Argument(
    help: "The session; its id may be shortened.", completion: .custom(SessionCompletion.ids))
  var id: String
  @Option(
    help: ArgumentHelp("A mirror to take it from.", valueName: "folder"), completion: .directory)
  var from: String?
  @Flag(help: "With --from, restore also what its sidecar does not prove.")
  var unverified = false
  @Flag(help: "Restore nothing; print from where the session would come.")
  var dryRun = false
  @Flag(help: "A JSON object.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  private struct Result: Encodable {
    let session: SessionID
    let restored: SessionID?
    let from: String
  }

  func validate() throws {
    if unverified, from == nil { throw ValidationError("--unverified is for --from") }
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger())
    let wanted = try ShortenedID(id)
    if from == nil,
      let session = try restoreFromTrash(
        setup, wanted, holding: setup.requireLock(unless: dryRun))
    {
      return try report(session, as: dryRun ? nil : session, from: "trash")
    }
    let lived = try setup.lived(nil)
    let mark = dryRun ? lived.time.mark : lived.markToSave()
    let lock = {
      let lock = try await setup.waitForLock()
      try lived.save(holding: lock)
      return lock
    }
    let restorer = SessionRestorer(into: setup.home, device: setup.device, machine: .current)
    if let from {
      let copy = try MirroredSession.find(wanted, in: from, knowing: setup.knownKeys()) {
        Console.complain($0)
      }
      if try reportEarlier(copy.sidecar, copy.length, restorer) { return }
      switch try copy.doubt(knowing: setup.knownKeys()) {
      case .contradicted(let doubt) where !unverified:
        throw Failure(.integrity, "\(doubt). To restore it all the same, add --unverified")
      case .contradicted(let doubt), .unproven(let doubt): Console.complain(String(oneLine: doubt))
      case nil: break
      }
      if dryRun { return try report(copy.sidecar, as: nil, from: "mirror") }
      let restored = try await restorer.restore(
        copy.sidecar, length: copy.length, agingFrom: mark, locking: lock
      ) { try copy.read(asStated: !unverified, $0) }
      return try report(copy.sidecar, as: restored, from: "mirror")
    }
    var catalog = SessionCatalog(try setup.reading(.remote))
    catalog.includesUndescribed = true
    let entry = try await catalog.context.explaining {
      try await catalog.entry(matching: id, devices: catalog.devices(for: [id]))
    }
    if entry.hasLocalLog {
      throw Failure(.usage, "\(entry.session) is already on this machine")
    }
    let reader = try SessionReader(entry, side: .remote, in: catalog) { Console.complain($0) }
    let length = reader.length.byteCount
    if try reportEarlier(entry.sidecar, length, restorer) { return }
    if dryRun { return try report(entry.sidecar, as: nil, from: "store") }
    let restored = try await restorer.restore(
      entry.sidecar, length: length, agingFrom: mark, locking: lock
    ) { write in
      _ = try await reader.read(RecordChoice(RecordFilter()), .verified, write)
    }
    try report(entry.sidecar, as: restored, from: "store")
  }

  private func restoreFromTrash(
    _ setup: CommandContext, _ wanted: ShortenedID, holding lock: HomeLock?
  ) throws -> SessionID? {
    guard wanted.mayMeanSessions(of: setup.device) else { return nil }
    let lived = try setup.lived(nil)
    let trash = Trash(setup.home)
    let found =
      try trash
      .sessions(at: lived.time.mark) { Console.complain(String(oneLine: $0)) }
      .keys.filter(wanted.matches)
    guard let session = found.first else { return nil }
    guard found.count == 1 else {
      throw Failure(
        .usage,
        "'\(String(oneLine: id, limit: 80))' is the start of \(found.count) session ids "
          + "in the trash; give more of it")
    }
    guard let lock else { return session }
    guard try trash.restore(session, at: lived.markToSave(), holding: lock) else { return nil }
    try lived.save(holding: lock)
    return session
  }

  /// Names the session that an earlier restoration made.
  ///
  /// - Returns: whether there is one, so that nothing is left to do.
  private func reportEarlier(
    _ original: Sidecar, _ length: ByteCount, _ restorer: SessionRestorer
  ) throws -> Bool {
    guard let earlier = try restorer.restored(from: original, length: length) else { return false }
    let session = original.sessionId
    if json {
      Console.say(try Console.json(Result(session: session, restored: earlier, from: "local")))
    } else {
      Console.say("\(session)  is already restored as \(earlier)")
    }
    return true
  }

  /// Reports a session made from a copy, and what stays with the copy.
  private func report(_ original: Sidecar, as restored: SessionID?, from: String) throws {
    try report(original.sessionId, as: restored, from: from)
    guard let former = original.former, !former.isEmpty else { return }
    let generations = former.map { "\($0.generation)" }.joined(separator: ", ")
    Console.remark(
      "\(original.sessionId) alone has what its file held before it was rewritten: \(generations) "
        + "for 'tidemark show --generation'")
  }

  private func report(_ session: SessionID, as restored: SessionID?, from: String) throws {
    if json {
      Console.say(try Console.json(Result(session: session, restored: restored, from: from)))
      return
    }
    guard let restored else {
      return Console.say("\(session)  would be restored from the \(from)")
    }
    if session == restored {
      Console.say("\(session)  restored from the \(from)")
    } else {
      Console.say("\(session)  restored from the \(from) as \(restored)")
    }
  }
}
