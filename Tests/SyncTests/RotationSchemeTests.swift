import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Random schemes of rotation with passes in between, or at any moment of one: each line is in the store
/// once.
@Suite(.serialized, .shiftedTime, .tags(.medium)) struct RotationSchemeTests {
  /// A folder whose logs are rotated by a scheme.
  private struct Case {
    let scheme: RotationScheme
    var folder: AttachedFolder
    let logs: SchemedLogs
    /// Whether programs and rotations are at work while passes run, and some of these are killed.
    let isBusy: Bool
    var random: SeededGenerator
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `every line is sent once by any scheme`(number: Int) async throws {
    var test = try await Self.make(number)
    let logs = test.logs
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(logs) {
        Self.begin(&test)
        // What was rotated before the first pass is not sent.
        try await test.folder.tick(after: 10)
        try Self.end(test, isUploaded: true)
        for _ in 0..<25 { try await Self.step(&test) }
        logs.settle()
        for _ in 0..<4 { try await test.folder.tick(after: 7200, isDisturbed: true) }
      }
    }
    let lines = try await test.folder.remoteLines().flatMap(\.self)
    let counts = lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    let what = "\(test.scheme) busy \(test.isBusy)\n\(logs.history)"
    #expect((0..<logs.lines).filter { counts[$0] == nil } == [], "missing by \(what)")
    // Of a copy that is made while a pass runs, what the original still had may be unknown.
    guard !test.isBusy || test.scheme.move == .rename else { return }
    #expect(counts.filter { $0.value > 1 }.keys.sorted() == [], "twice by \(what)")
    // Whether something was added to a file before it was written over is unknown.
    let gaps = try await test.folder.gaps().filter {
      test.scheme.naming != .fixed || !$0.hasPrefix("[GAP ? bytes: ")
    }
    #expect(gaps == [], "\(what)")
  }

  private static func make(_ number: Int) async throws -> Case {
    var random = SeededGenerator(case: number)
    let scheme = RotationScheme(&random)
    let place =
      switch scheme.place {
      case .folder: "data"
      case .linkedFolder: "linked"
      case .linkedFiles: "links"
      }
    var folder = try AttachedFolder("\(place)/\(scheme.pattern)", idleEnd: scheme.idleEnd)
    var command = "mkdir data"
    switch scheme.place {
    case .folder: break
    case .linkedFolder: command += " && ln -s data linked"
    case .linkedFiles:
      folder.sources[0].followsLinks = true
      command += " && mkdir links"
      for name in scheme.names { command += " && ln -s ../data/\(name) links/\(name)" }
    }
    #expect(try await folder.run(command) == 0)
    let isBusy = Bool.random(using: &random)
    let logs = SchemedLogs(
      scheme, in: folder.file("data"), clock: folder.site.local.clock, case: number)
    return Case(scheme: scheme, folder: folder, logs: logs, isBusy: isBusy, random: random)
  }

  private static func begin(_ test: inout Case) {
    for name in test.scheme.names {
      switch Int.random(in: 0..<4, using: &test.random) {
      case 0: break
      case 1: test.logs.create(name)
      case 2: test.logs.write(0, to: name)
      default: test.logs.write(.random(in: 1...40, using: &test.random), to: name)
      }
    }
  }

  private static func step(_ test: inout Case) async throws {
    let name = test.scheme.names.randomElement(using: &test.random) ?? ""
    test.folder.site.local.clock.advance(seconds: .random(in: 0...20, using: &test.random))
    switch Int.random(in: 0..<12, using: &test.random) {
    case 0...3: test.logs.write(.random(in: 1...40, using: &test.random), to: name)
    case 4...6: test.logs.rotate(name)
    case 7:
      if Bool.random(using: &test.random) {
        try AttachedFiles(test.folder.site.local.home).distrust()
        test.logs.note("distrust the cache")
      } else if try !test.scheme.hasLongHeading && !test.folder.sidecars().isEmpty {
        // Without the cache, logs are told apart by their first bytes, and the time since when they are
        // attached is that of the first session.
        try test.folder.loseCache()
        test.logs.note("lose the cache")
      }
    case 8: try await pass(&test, after: 7200)
    default: try await pass(&test, after: .random(in: 0...90, using: &test.random))
    }
  }

  private static func pass(_ test: inout Case, after seconds: Int64) async throws {
    test.folder.site.local.clock.advance(seconds: seconds)
    let isKilled = test.isBusy && Int.random(in: 0..<3, using: &test.random) == 0
    let kind = test.isBusy ? Int.random(in: 0..<20, using: &test.random) : 19
    test.logs.begin(
      isBusy: test.isBusy && Bool.random(using: &test.random),
      lifetime: isKilled ? .random(in: 0..<120, using: &test.random) : nil)
    test.logs.note(isKilled ? "pass that is killed" : "pass \(kind)")
    do {
      switch kind {
      case 0...2: try test.folder.tickWithoutStore()
      case 3...5: try await test.folder.reap()
      default: try await test.folder.tick(isDisturbed: true)
      }
    } catch  where isKilled {}
    try end(test, isUploaded: kind >= 6)
  }

  private static func end(_ test: Case, isUploaded: Bool) throws {
    try test.logs.end(isUploaded: isUploaded) {
      try AttachedFiles(test.folder.site.local.home).all().map(\.source.path)
    }
  }
}
