import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Rotation into another folder, as by logrotate's `olddir`, of logs shorter than a head.
@Suite(.shiftedTime, .tags(.medium)) struct OldFolderTests {
  private func rotate(
    _ folder: AttachedFolder, _ name: String, with command: String
  ) async throws {
    let old = "old/\(name)-20261123"
    #expect(try await folder.run("mkdir -p old && mv \(name) \(old) && \(command) \(old)") == 0)
  }

  @Test(arguments: ["true", "gzip -q", "zstd -q --rm"], [false, true])
  func `a short log moved to another folder is sent once`(
    command: String, grows: Bool
  ) async throws {
    let folder = try AttachedFolder("**")
    try folder.append(0..<20, to: "app.log")
    // Another one with the same start.
    try folder.append(0..<1, to: "app-2.log")
    try await folder.tick()
    if grows { try folder.append(20..<40, to: "app.log") }
    try await rotate(folder, "app.log", with: command)
    try folder.append(40..<50, to: "app.log")
    for seconds: Int64 in [0, 70, 7200, 7200] { try await folder.tick(after: seconds) }
    let expected = [0] + Array(grows ? 0..<50 : 0..<20) + (grows ? [] : Array(40..<50))
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == expected.sorted())
    #expect(try await folder.gaps().isEmpty)
  }

  @Test(arguments: ["true", "gzip -q"])
  func `a short log rewritten and moved to another folder is another`(
    command: String
  ) async throws {
    let folder = try AttachedFolder("**")
    func job(_ night: String) -> String {
      (1...40).map { "step \($0): ok\n" + ($0 == 20 ? "\(night)\n" : "") }.joined()
    }
    try folder.append(job("NIGHT-1"), to: "job.log")
    try await folder.tick()
    try folder.truncate("job.log")
    try folder.append(job("NIGHT-2"), to: "job.log")
    try await rotate(folder, "job.log", with: command)
    for seconds: Int64 in [0, 70, 7200, 7200] { try await folder.tick(after: seconds) }
    var texts: [String] = []
    for sidecar in try folder.sidecars() {
      texts.append(try await folder.remote(sidecar.sessionId))
    }
    #expect(texts.count == 2 && texts.contains(job("NIGHT-2")), "\(texts)")
    #expect(texts.contains { $0.hasPrefix(job("NIGHT-1")) }, "\(texts)")
  }
}
