import ArgumentParser
import TestSupport
import Testing
import TidemarkUpload

@testable import tidemark

/// Of which passes an upload consists, and which exit code it has.
@Suite(.tags(.small)) struct PassSeriesTests {
  private typealias Pass = (status: tidemark.ExitStatus, isUnfinished: Bool)

  private static let series: [(passes: [Pass], exit: tidemark.ExitStatus)] = [
    ([(.ok, false)], .ok),
    ([(.authentication, false)], .authentication),
    // A limit of requests was reached.
    ([(.partial, false)], .partial),
    // What a pass leaves, the next one sends.
    ([(.tryLater, true), (.ok, false)], .ok),
    ([(.tryLater, true), (.tryLater, true), (.tryLater, true), (.ok, false)], .ok),
    // Another upload has the lock now, or the store is down.
    ([(.tryLater, true), (.tryLater, false)], .tryLater),
    // A session that failed is not well because the next pass has nothing to do.
    ([(.partial, true), (.ok, false)], .partial),
    ([(.integrity, true), (.ok, false)], .integrity),
    ([(.tryLater, true), (.partial, true), (.tryLater, true), (.ok, false)], .partial),
    // Two different failures.
    ([(.integrity, true), (.partial, false)], .partial),
    ([(.integrity, true), (.tryLater, false)], .partial),
    ([(.tryLater, true), (.configuration, false)], .configuration),
  ]

  @Test(arguments: series.indices)
  func `passes follow each other until one leaves nothing, and what each says counts`(
    number: Int
  ) async throws {
    let (passes, exit) = Self.series[number]
    var series = PassSeries(left: tidemark.ExitStatus.tryLater)
    var continued: [Bool] = []
    try await series.run { continues in
      let next = try #require(passes.dropFirst(continued.count).first)
      continued.append(continues)
      return next
    }
    // Only the first one does not continue another.
    #expect(continued == passes.indices.map { $0 > 0 })
    #expect(tidemark.ExitStatus(of: series.statuses) == exit)
  }

  @Test func `no pass follows one that throws`() async {
    var series = PassSeries(left: tidemark.ExitStatus.tryLater)
    var begun = 0
    do {
      try await series.run { _ in
        begun += 1
        if begun == 2 { throw Failure(.configuration, "line 3: unfinished list") }
        return (.tryLater, true)
      }
      Issue.record("the error was lost")
    } catch {
      #expect(tidemark.ExitStatus(error) == .configuration)
    }
    #expect(begun == 2)
  }

  /// The other upload does this one's work, as far as it knows of it.
  @Test func `who finds another upload running tries later, if that may send less`() throws {
    let upload = try #require(try Tidemark.parseAsRoot(["upload"]) as? Upload)
    let recorder = try #require(
      try Tidemark.parseAsRoot(["upload", "--for-recorder", "--wait", "10s"]) as? Upload)
    #expect(upload.statusOfBusyHome(continues: false) == .ok)
    #expect(upload.statusOfBusyHome(continues: true) == .tryLater)
    #expect(recorder.statusOfBusyHome(continues: false) == .tryLater)
    #expect(recorder.wait == .seconds(10))
  }
}
