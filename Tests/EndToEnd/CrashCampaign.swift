import Foundation
import TestServers
import TestSupport

/// One recorded and uploaded session whose program, recorder or uploader is killed.
struct CrashRound {
  /// The process to kill, and when.
  enum Victim: String, CaseIterable {
    /// At any instant.
    case program, recorder, uploader
    /// At a call that makes bytes durable, changes names or truncates a file.
    case recorderCalls, uploaderCalls
  }

  /// The call at which a process dies, counted over all processes of the victim's kind.
  struct Point: CustomStringConvertible {
    let number: Int
    let isAfter: Bool

    var description: String { "\(isAfter ? "after" : "before") call \(number)" }
  }

  /// The result of a round.
  struct Outcome {
    let problems: [String]
    /// Number of such calls.
    let calls: Int
    /// Superfluous files that remain, without their session's id and random parts.
    let leftBehind: [String]
  }

  let victim: Victim
  let number: Int
  let point: Point?
  private let program: Program
  private let endpoint: Endpoint
  private var random: SeededGenerator
  /// The program's exit status, unless it is killed, and the number of records that it prints.
  private let status: Int
  private let records: Int
  private let uploadsMeanwhile: Bool

  /// Prepares a round.
  init(_ victim: Victim, number: Int, point: Point? = nil) throws {
    self.victim = victim
    self.number = number
    self.point = point
    random = SeededGenerator(case: number * 8 + (Victim.allCases.firstIndex(of: victim) ?? 0))
    let kind: Endpoint.Kind = number % 10 == 4 ? .webdav : number % 10 == 8 ? .s3 : .directory
    endpoint = try Endpoint(kind)
    try endpoint.prepare()
    status = Int.random(in: 0...3, using: &random)
    records = Int.random(in: 1200...2400, using: &random)
    uploadsMeanwhile = Bool.random(using: &random)
    program = try Program(endpoint)
    try FileManager.default.createDirectory(
      atPath: program.home, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let fsync = ["1s", "always", "never"].randomElement(using: &random) ?? "1s"
    let settings = """
      store: \(endpoint.url)
      consent: logs
      fsync: \(fsync)
      rotate-at: \(Int.random(in: 15_000...40_000, using: &random))
      retention:
        prune-after: 1h

      """
    try settings.write(
      toFile: program.home + "/tidemark.yaml", atomically: true, encoding: .utf8)
  }

  /// Runs it, uploads undisturbed until all is sealed, and collects the evidence.
  func run() async throws -> Outcome {
    var round = self
    let script = "\(Self.functions)\n\(round.script())\n"
    try script.write(toFile: program.folder.path + "/round", atomically: true, encoding: .utf8)
    _ = try await program.shell("cd '\(program.folder.path)'; exec sh ./round")
    let evidence = try await CrashEvidence(
      program: program, endpoint: endpoint, victim: victim, status: status,
      records: victim == .recorderCalls || victim == .uploaderCalls ? records : nil)
    let problems = try await evidence.problems()
    let place =
      "\(victim)\(point.map { " \($0)" } ?? ""), round \(number), seed \(SeededGenerator.runSeed): "
    return Outcome(
      problems: problems.map { place + $0 }, calls: try calls(),
      leftBehind: try await evidence.leftBehind())
  }

  private func calls() throws -> Int {
    let path = program.folder.path + "/calls"
    guard let bytes = FileManager.default.contents(atPath: path) else { return 0 }
    return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: The script

  /// `upload` makes one pass, which is killed after the given amount of work; `record` runs a
  /// program; `keep` copies the home's files of the session.
  private static let functions = """
    upload() {
      env $upload_with $T upload --now </dev/null >/dev/null 2>>complaints &
      process=$!
      if [ "$1" ]; then seq "$1" >/dev/null; kill -9 $process; fi
      wait $process; echo $? >>uploads
    }
    uploads() { while [ ! -e ended ]; do upload; done; }
    record() {
      env $record_with $T run --no-upload -- sh -c "$1" >console 2>/dev/null
      echo $? >status
    }
    keep() { cp -a home/sessions kept; }
    age() { touch -t 202001010000 home/sessions/*/*.log.zst; }
    shown() { until grep -q "^$1\\$" console; do :; done; }
    """

  /// Durations are measured by how far a counting process gets meanwhile.
  private mutating func work(_ most: Int) -> Int { Int.random(in: 1...most, using: &random) }

  private mutating func script() -> String {
    let ends = """
      for pass in 1 2; do upload; done
      """
    var loaded = ""
    if let point {
      loaded =
        "LD_PRELOAD=\(CrashRound.library) CRASH_COUNT=calls CRASH_AT=\(point.number)"
        + (point.isAfter ? " CRASH_AFTER=1" : "")
    }
    switch victim {
    case .program, .recorder:
      let process = victim == .program ? "$$" : "$PPID"
      let killer = "(seq \(work(2_000_000)); kill -9 \(process)) >/dev/null 2>&1 &"
      return meanwhile("record '\(killer) exec seq 100000000'") + ends
    case .recorderCalls:
      return "record_with='\(loaded)'\n" + meanwhile("record 'seq \(records); exit \(status)'")
        + ends
    case .uploader:
      func kills() -> String { (0..<2).map { _ in "upload \(work(3_000_000))\n" }.joined() }
      return """
        record '
          n=0
          while [ ! -e enough ]; do seq $((n + 1)) $((n + 200)); n=$((n + 200)); done
          exit \(status)' &
        recorder=$!
        shown 200
        \(kills())
        age
        >enough; wait $recorder
        \(kills())
        \(ends)
        """
    case .uploaderCalls:
      return """
        mkfifo more ready
        record '
          seq 600; echo >ready; read x <more
          seq 601 \(records); echo >ready; read x <more
          exit \(status)' &
        recorder=$!
        upload_with='\(loaded)'
        read x <ready; shown 600; upload
        echo >more; read x <ready; shown \(records); upload
        age; upload
        echo >more; wait $recorder; upload; upload
        upload_with=
        \(ends)
        """
    }
  }

  private func meanwhile(_ recording: String) -> String {
    uploadsMeanwhile
      ? "uploads & loop=$!\n\(recording); >ended; wait $loop; keep\n" : "\(recording); keep\n"
  }

  /// Beside the program, where SwiftPM puts both.
  static let library = URL(filePath: Program.path).deletingLastPathComponent()
    .appending(path: "libCrashPoints.so").path
}
