import ArgumentParser
import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync
@testable import TidemarkUpload
@testable import tidemark

@Suite(.tags(.medium)) struct HomeUploadsTests {
  /// Runs uploads in which each process reports that the store is down.
  ///
  /// - Returns: the number of started processes, and of checks of the store.
  private func run(isStoreDown: Bool) async throws -> (started: Int, asked: Int) {
    let homes = try (0..<5).map { _ in try TestHome() }
    for home in homes { _ = try home.writer() }
    let upload = try #require(try Tidemark.parseAsRoot(["upload"]) as? Upload)
    var uploads = HomeUploads(upload, prunes: false)
    let started = Guarded(0)
    uploads.replacement = { _ in
      started.withLock { $0 += 1 }
      let said = #"echo '{"isStoreDown":true}' >&3"#
      return try SupervisedProcess(
        ChildProcess(["/bin/sh", "-c", said], environment: ["PATH": "/usr/bin:/bin"]),
        reading: [
          .init(HomeProcess.resultDescriptor, limit: 1000), .init(1, limit: 1000),
          .init(2, limit: 1000),
        ], for: .seconds(600), on: .current)
    }
    var asked = 0
    let round = try await uploads.run(homes.map(\.home), besides: .none) {
      asked += 1
      return isStoreDown
    }
    // Their folders go with them.
    withExtendedLifetime(homes) {}
    #expect(round.isStopped == isStoreDown)
    return (started.withLock { $0 }, asked)
  }

  /// A user may cause what a process reports.
  @Test func `uploads end for all only if the store is found to be down`() async throws {
    let doubted = try await run(isStoreDown: false)
    #expect(doubted.started == 5 && (1...5).contains(doubted.asked))
    let down = try await run(isStoreDown: true)
    #expect((1...2).contains(down.started) && down.asked == 1)
  }

  @Test func `a process notices that the one that started it has ended`() throws {
    var ends: [Int32] = [-1, -1]
    let isMade = pipe(&ends) == 0
    try #require(isMade)
    #expect(!HomeProcess.isAbandoned(ends[1]))
    // A result that was not read yet.
    let count = write(ends[1], "{}", 2)
    #expect(count == 2)
    #expect(!HomeProcess.isAbandoned(ends[1]))
    close(ends[0])
    #expect(HomeProcess.isAbandoned(ends[1]))
    close(ends[1])
  }

  /// Any user may make folders that are named like homes.
  @Test func `of many refused folders of one owner a few are looked into`() throws {
    let refused = (0..<3000).map { (path: "/tidemark-missing/\($0)", reason: "no user") }
    let found = try RefusedHome.all(refused) { $0.hasSuffix("/2999") ? 2 : 1 }
    #expect(found.count == 3000)
    let looked = found.filter { $0.reason == "no user" }.map(\.path)
    #expect(looked.count == 21 && looked.last == "/tidemark-missing/2999")
  }

  /// Those that wait for a file system that does not answer do not become more for ever.
  @Test func `a home has a limited number of processes`() throws {
    let home = try TestHome()
    let folder = home.folder + "/processes"
    var places: [FileLock] = []
    for _ in 0..<HomeProcess.mostPlaces {
      places.append(try #require(try HomeProcess.takePlace("upload-bin", in: folder)))
    }
    #expect(throws: Failure.self) { try HomeProcess.takePlace("upload-bin", in: folder) }
    #expect(try HomeProcess.takePlace("upload-games", in: folder) != nil)
    places.removeLast()
    #expect(try HomeProcess.takePlace("upload-bin", in: folder) != nil)
    #expect(try HomeProcess.takePlace("upload-bin", in: folder + "/missing/folder") == nil)
    withExtendedLifetime(places) {}
  }

  private static let reports: [(String, [String])] = [
    ("printf '/a\\n/b b\\n'", ["/a", "/b b"]), ("printf '/a\\n/bob'; kill -9 $$", ["/a"]),
    ("printf /a", []), ("exit 1", []),
  ]

  /// What a user mounts in a home may end the process that looks for them, in the middle of a path.
  @Test(arguments: reports)
  func `homes are unused only if a whole line says so`(script: String, unused: [String]) throws {
    let process = try SupervisedProcess(
      ChildProcess(["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"]),
      reading: [.init(1, limit: 1000)], for: .seconds(600), on: .current)
    #expect(try UnusedHomes.found(by: process) == Set(unused))
  }

  @Test func `a home is unused until it has sessions`() throws {
    let home = try TestHome()
    #expect(try UnusedHomes.isUnused(home.home))
    _ = try home.writer()
    #expect(try !UnusedHomes.isUnused(home.home))
  }

  private static let results: [(statuses: [tidemark.ExitStatus], all: tidemark.ExitStatus)] = [
    ([.ok], .ok), ([.ok, .configuration], .partial), ([.ok, .tryLater], .tryLater),
    ([.configuration], .configuration), ([.ok, .tryLater, .configuration], .partial),
  ]

  @Test(arguments: results.indices)
  func `one home's failure is not the status of all`(number: Int) throws {
    let upload = try #require(try Tidemark.parseAsRoot(["upload"]) as? Upload)
    var uploads = HomeUploads(upload, prunes: false)
    for status in Self.results[number].statuses { uploads.add(status) }
    #expect(uploads.status == Self.results[number].all)
  }

  @Test func `a plan shows no control characters of file names`() {
    let preview = UploadPass.Preview(
      attached: ["attach /var/log/\u{1b}[31mred\nline.log (1 B)"], attachedBytes: 1,
      upload: UploadPlan())
    let lines = Upload.lines(of: preview).map(\.text)
    #expect(lines.first == #"attach /var/log/\u{1b}[31mred line.log (1 B)"#)
  }
}
