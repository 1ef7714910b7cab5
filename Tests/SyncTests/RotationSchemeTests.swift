import Platform
import TestSupport
import Testing

@testable import Sync

/// Random schemes of rotation with passes in between: each line is in the store once.
@Suite(.serialized, .shiftedTime, .tags(.medium)) struct RotationSchemeTests {
  @Test(arguments: SeededGenerator.cases(400))
  func `every line is sent once by any scheme`(number: Int) async throws {
    var random = SeededGenerator(case: number)
    let scheme = RotationScheme(&random)
    let folder = try await folder(of: scheme)
    let logs = SchemedLogs(scheme, in: folder.file("data"), clock: folder.site.local.clock)
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(logs.times) {
        for name in scheme.names {
          switch Int.random(in: 0..<4, using: &random) {
          case 0: break
          case 1: try logs.create(name)
          case 2: try logs.write(0, to: name)
          default: try logs.write(.random(in: 1...40, using: &random), to: name)
          }
        }
        try await tick(folder, logs, after: 10)
        for _ in 0..<25 { try await step(folder, scheme, logs, &random) }
        for _ in 0..<4 { try await tick(folder, logs, after: 7200) }
      }
    }
    let lines = try await folder.remoteLines().flatMap(\.self)
    let counts = lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    #expect((0..<logs.lines).filter { counts[$0] == nil } == [], "missing by \(scheme)")
    #expect(counts.filter { $0.value > 1 }.keys.sorted() == [], "twice by \(scheme)")
    // Whether something was added to a file before it was written over is unknown.
    let gaps = try await folder.gaps().filter {
      scheme.naming != .fixed || !$0.hasPrefix("[GAP ? bytes: ")
    }
    #expect(gaps == [], "\(scheme)")
  }

  private func folder(of scheme: RotationScheme) async throws -> AttachedFolder {
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
    return folder
  }

  private func tick(
    _ folder: AttachedFolder, _ logs: SchemedLogs, after seconds: Int64
  ) async throws {
    try await folder.tick(after: seconds, isDisturbed: true)
    logs.wereSeen()
  }

  private func step(
    _ folder: AttachedFolder, _ scheme: RotationScheme, _ logs: SchemedLogs,
    _ random: inout SeededGenerator
  ) async throws {
    let name = scheme.names.randomElement(using: &random) ?? ""
    folder.site.local.clock.advance(seconds: .random(in: 0...20, using: &random))
    switch Int.random(in: 0..<12, using: &random) {
    case 0...3: try logs.write(.random(in: 1...40, using: &random), to: name)
    case 4...6: try logs.rotate(name)
    case 7: try AttachedFiles(folder.site.local.home).distrust()
    case 8: try await tick(folder, logs, after: 7200)
    default: try await tick(folder, logs, after: .random(in: 0...90, using: &random))
    }
  }
}
