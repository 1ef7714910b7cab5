import Foundation
import TestServers
import TestSupport

/// The files here and in the store after a round of the crash campaign and undisturbed uploads.
struct CrashEvidence {
  let program: Program
  let endpoint: Endpoint
  let victim: CrashRound.Victim
  /// The program's exit status, unless it is killed.
  let status: Int
  /// Number of records that it prints; nil if that depends on when it is killed.
  let records: Int?
  private let sessions: [[String: Any]]
  private let recorderStatus: Int?

  init(
    program: Program, endpoint: Endpoint, victim: CrashRound.Victim, status: Int, records: Int?
  ) async throws {
    self.program = program
    self.endpoint = endpoint
    self.victim = victim
    self.status = status
    self.records = records
    sessions = try await program.list()
    let collected = try await program.shell(
      Self.collection(of: sessions.first?["sessionId"] as? String ?? "", in: endpoint.files))
    if collected.status != 0 { throw Uncollected(errors: collected.errors) }
    recorderStatus = Int(
      String(decoding: try Self.file("status", program), as: UTF8.self)
        .trimmingCharacters(in: .newlines))
  }

  /// The shell could not collect the files.
  struct Uncollected: Error {
    let errors: String
  }

  /// Assembles a session's files without the product.
  ///
  /// Parts and live log are in `local` and, as they were after a kill, in `kept.log`; the store's
  /// objects in `objects`. `records` contains the errors in the remote log's records, and then
  /// their number.
  private static func collection(of session: String, in store: String) -> String {
    """
    cd "${TIDEMARK_HOME%/home}"
    assemble() {
      [ -d $1 ] || return 0
      parts=$(find $1 -name '*.[0-9]*.log*' | sed -n 's/\\(\\.log\\)\\(\\.zst\\)\\{0,1\\}$/\\1/p' | sort -u)
      for part in $parts; do
        if [ -e $part ]; then cat $part; else zstd -dcq $part.zst; fi || return 1
      done
      live $1
    }
    live() {
      [ -d $1 ] || return 0
      find $1 -name '*.log' ! -name '*.[0-9]*.log' -exec cat {} +
    }
    start() {
      [ -d $1 ] || return 0
      find $1 -name '*.[0-9]*.log*' | sed -n 's/.*\\.\\([0-9]*\\)\\.log.*/\\1/p' | sort | head -n 1
    }
    assemble home/sessions >local && start home/sessions >local.start &&
      live home/sessions >live &&
      assemble kept >kept.log && start kept >kept.start &&
      find '\(store)' -name '*.log.zst' | sort | xargs -r cat >objects.zst &&
      { [ ! -s objects.zst ] || zstd -dcq objects.zst; } >objects &&
      touch complaints status console &&
      if [ '\(session)' ]; then $T show --raw --remote '\(session)' || :; fi >remote &&
      awk >records <remote '
        ended { print "after the end comes " $0 }
        NR == 1 && / \\[Session\\] SESSION START / { next }
        / \\[Session\\] SESSION END / { ended = 1; next }
        NF == 4 && $3 == "[stdout]" && $4 == number + 1 { number++; next }
        { print "after " number + 0 " comes " substr($0, 1, 200) }
        END { print number + 0 }'
    """
  }

  private static func file(_ name: String, _ program: Program) throws -> Data {
    try Data(contentsOf: URL(filePath: program.folder.path + "/" + name))
  }

  private func file(_ name: String) throws -> Data { try Self.file(name, program) }

  private func text(_ name: String) throws -> String {
    String(decoding: try file(name), as: UTF8.self)
  }

  private var wasRecorderKilled: Bool { recorderStatus == 137 && victim != .program }

  // MARK: Problems

  /// The problems, one line each.
  func problems() async throws -> [String] {
    var problems: [String] = []
    let complaints = try text("complaints")
    if !complaints.isEmpty { problems.append("uploads complained: \(complaints)") }
    let statuses = Set(try text("uploads").split(separator: "\n"))
    if !statuses.isSubset(of: ["0", "137"]) { problems.append("uploads ended with \(statuses)") }
    let last = try text("uploads").split(separator: "\n").suffix(2)
    if last != ["0", "0"] { problems.append("the last uploads ended with \(last)") }
    guard let session = sessions.first, sessions.count == 1,
      let id = session["sessionId"] as? String
    else {
      // A process that dies before there is a log has not started the program.
      let isNothing = try file("console").isEmpty && file("local").isEmpty
      return problems
        + (sessions.isEmpty && wasRecorderKilled && isNothing
          ? [] : ["\(sessions.count) sessions"])
    }
    let remote = try file("remote")
    problems += try wrongCopies(of: remote, session)
    problems += try wrongRecords(in: remote)
    problems += try wrongVerdict(session, remote)
    let verified = try await program.run("verify", id)
    if verified.status != 0 { problems.append("verify: \(verified.text)\(verified.errors)") }
    return problems
  }

  private func wrongCopies(of remote: Data, _ session: [String: Any]) throws -> [String] {
    var problems: [String] = []
    for key in ["fileSizeBytes", "uploadedBytes"] where session[key] as? Int != remote.count {
      problems.append("\(key) is \(session[key] ?? "nothing"), not \(remote.count)")
    }
    if try file("objects") != remote { problems.append("the objects hold other bytes") }
    if try remote.dropFirst(start("local")) != file("local") {
      problems.append("the local log is another: \(try file("local").count) of \(remote.count)")
    }
    let kept = try file("kept.log")
    // A killed recorder writes nothing more; a live one may have been copied while writing.
    let stretch = remote.dropFirst(try start("kept"))
    if FileManager.default.fileExists(atPath: program.folder.path + "/kept"),
      !stretch.starts(with: kept) || wasRecorderKilled && stretch.count != kept.count
    {
      problems.append("\(kept.count) bytes stood in the log, \(stretch.count) were sent")
    }
    return problems
  }

  private func start(_ name: String) throws -> Int {
    Int(try text(name + ".start").trimmingCharacters(in: .newlines)) ?? 0
  }

  /// Expects records without gaps and duplicates, at least as many as on the console.
  private func wrongRecords(in remote: Data) throws -> [String] {
    if remote.isEmpty { return try file("console").isEmpty ? [] : ["nothing was recorded"] }
    var found = try text("records").split(separator: "\n").map(String.init)
    let number: Int
    if remote.last == 0x0a {
      number = found.popLast().flatMap { Int($0) } ?? 0
    } else {
      // A kill cuts a write that has not returned, but only where a page of the file ends.
      guard wasRecorderKilled, try file("live").count.isMultiple(of: 4096), found.count <= 2 else {
        return ["a torn record: \(found.suffix(2)) at byte \(remote.count)"]
      }
      number = found.popLast().flatMap { Int($0) } ?? 0
      found = []
    }
    // The part of a line that a killed program had printed.
    if victim == .program, found.count == 1,
      let piece = found[0].split(separator: " [stdout+] ").dropFirst().first,
      found[0].hasPrefix("after \(number) comes "), "\(number + 1)".hasPrefix(piece)
    {
      found = []
    }
    let console = try file("console").count { $0 == 0x0a }
    if number < console { found.append("the console has \(console) lines, the log \(number)") }
    if let records, !wasRecorderKilled, number != records {
      found.append("\(records) were printed, \(number) recorded")
    }
    return found
  }

  private func wrongVerdict(_ session: [String: Any], _ remote: Data) throws -> [String] {
    let hasEnd = String(decoding: remote.suffix(200), as: UTF8.self)
      .contains("[Session] SESSION END ")
    if !hasEnd && !wasRecorderKilled { return ["no end record"] }
    let cause: String
    switch victim {
    case _ where !hasEnd: cause = "recorder lost"
    case .program: cause = "signal 9 (SIGKILL)"
    default: cause = "exit \(status)"
    }
    let verdict = cause.hasPrefix("exit") ? "TERMINATED" : "CRASHED"
    let found = "\(session["status"] ?? "nothing") \(session["cause"] ?? "nothing")"
    return found == "\(verdict) \(cause)" ? [] : ["\(found), not \(verdict) \(cause)"]
  }

  // MARK: Remains

  /// Superfluous files, without sessions' ids and random names.
  func leftBehind() async throws -> [String] {
    let found = try await program.shell(
      """
      cd "${TIDEMARK_HOME%/home}"
      { find home -type f; cd '\(endpoint.files)' && find . -type f -name '.*'; } |
        grep -v -e '\\.json$' -e '/sessions/.*\\.log\\(\\.zst\\)\\{0,1\\}$' -e '\\.rotated$' \
          -e '^home/\\(lock\\|tidemark.yaml\\)$' -e '^home/cache/manifest\\.sqlite'
      """)
    return found.text.split(separator: "\n").map {
      String($0)
        .replacing(/[0-9]{8}t[0-9]{6}z-[a-z0-9]{8}/, with: "SESSION")
        .replacing(/\.[a-z0-9]{6}\.tmp/, with: ".XXXXXX.tmp")
        .replacing(/\.tidemark-[a-z0-9]+/, with: ".tidemark-X")
        .replacing(/[0-9]{12}/, with: "OFFSET")
    }
  }
}
