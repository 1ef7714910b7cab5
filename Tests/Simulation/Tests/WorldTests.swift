import Foundation
import Platform
import TestSupport
import Testing

@testable import Simulation

/// The world behaves as documented.
@Suite(.tags(.medium)) struct WorldTests {
  private let folder = NSTemporaryDirectory() + "tidemark-world-" + UUID().uuidString
  private let time = SimulatedTime()

  private func process(lifetime: Int? = nil) throws -> (SimulatedProcess, Disk) {
    let disk = try Disk(root: folder)
    let machine = SimulatedMachine(0, time, seed: 1)
    let process = SimulatedProcess(
      "p", machine.startProcess(), disk, Trace(keepsLines: false), seed: 1, lifetime: lifetime)
    return (process, disk)
  }

  @Test func `a dead process changes nothing, cleaning up included`() throws {
    let (process, _) = try process(lifetime: 2)
    let path = folder + "/file"
    _ = process.run {
      #expect(throws: SystemError.self) {
        defer { try? File.remove(path) }
        let file = try Descriptor(opening: path, [.write, .new])
        try file.write(Array("one".utf8))
        try file.write(Array("two".utf8))
      }
    }
    #expect(try AtomicFile.read(path) == Array("one".utf8))
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test func `a power cut loses unsynced changes and nothing else`() throws {
    var lengths: Set<Int> = []
    for seed in 0..<40 {
      let (process, disk) = try process()
      let path = folder + "/file"
      try process.run {
        let file = try Descriptor(opening: path, [.write, .new])
        try file.write(Array("synced".utf8))
        try file.synchronize()
        try Directory.synchronize(folder)
        try file.write(Array("unsynced".utf8))
      }
      var random = SeededGenerator(case: seed)
      disk.cutPower(&random)
      let content = try AtomicFile.read(path)
      #expect(Array("syncedunsynced".utf8).starts(with: content) && content.count >= 6)
      lengths.insert(content.count)
      try FileManager.default.removeItem(atPath: folder)
    }
    #expect(lengths.count > 2)
  }

  @Test func `a power cut may take a name that was not synced`() throws {
    var found: Set<Bool> = []
    for seed in 0..<20 {
      let (process, disk) = try process()
      let path = folder + "/file"
      try process.run { _ = try Descriptor(opening: path, [.write, .new]) }
      var random = SeededGenerator(case: seed)
      disk.cutPower(&random)
      found.insert(File.exists(path))
      try FileManager.default.removeItem(atPath: folder)
    }
    #expect(found == [true, false])
  }

  @Test func `a failing history is shrunk to the steps that make it fail`() async {
    let culprit = Step(.unmount, seed: 7)
    let steps = (0..<30).map { Step(.pass(seconds: Int64($0)), seed: UInt64($0)) }
    let history = History(homes: 3, steps + [culprit] + steps)
    let shrinker = Shrinker { $0.steps.contains(culprit) }
    #expect(await shrinker.shrink(history) == History([culprit]))
  }

  @Test func `the same history has the same trace`() async throws {
    var generator = HistoryGenerator(seed: 5, steps: 8, .all)
    let history = generator.make()
    let simulation = Simulation(in: folder)
    let first = try await simulation.run(history)
    let second = try await simulation.run(history)
    // Without deterministic hashing the order of some effects is open, but not their result.
    #expect(first.steps == second.steps)
    #expect(first.violations.map(\.violation) == second.violations.map(\.violation))
  }
}
