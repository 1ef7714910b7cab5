import Foundation
import TestSupport
import Testing

@testable import Sync

/// Logs that get their lines and are rotated between two passes, so that no pass has seen any of them.
@Suite(.shiftedTime, .tags(.medium)) struct UnseenLogTests {
  enum Rotation: String, CaseIterable {
    case rename = "mv error.log error.log.1; : >error.log"
    case renameOnly = "mv error.log error.log.1"
    case fixedName = "mv error.log error.log.old; : >error.log"
    case copyTruncate = "cp error.log error.log.1; : >error.log"
    case compress = "gzip -c error.log >error.log.1.gz; : >error.log"
  }

  @Test(arguments: Rotation.allCases, [true, false])
  func `a rotated log is sent that was empty at every pass`(
    rotation: Rotation, rebuildsCache: Bool
  ) async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append("", to: "error.log")
    try folder.append("before\n", to: "error.log.2")
    try folder.modified("error.log.2", ago: 60)
    try await folder.tick()
    try folder.append(0..<100, to: "error.log")
    #expect(try await folder.run(rotation.rawValue) == 0)
    if rotation != .renameOnly { try folder.append(100..<105, to: "error.log") }
    // A reboot rebuilds the cache.
    if rebuildsCache { try AttachedFiles(folder.site.local.home).distrust() }
    try await folder.tick(after: 10)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    let last = rotation == .renameOnly ? [] : [Array(100..<105)]
    #expect(try await folder.remoteLines() == [Array(0..<100)] + last)
  }
}
