import Foundation
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// A folder of attached logs is exchanged for a link that leads out of the source.
@Suite(.shiftedTime, .tags(.medium)) struct LinkedFolderTests {
  @Test(arguments: [false, true])
  func `files behind a link are neither continued nor begun`(isAbove: Bool) async throws {
    let folder = try AttachedFolder("*/logs/*.log")
    try await folder.run("mkdir -p a/logs ../private/logs")
    try folder.append("root:\n", to: "a/logs/shadow.log")
    try folder.append(0..<3, to: "a/logs/app.log")
    try await folder.tick()
    try await folder.run(
      """
      cd ../private/logs && printf 'root:\\nSECRET\\n' >shadow.log && echo SECRET >app.log.1
      """)
    try await folder.run(
      isAbove
        ? "mv a ../gone && ln -s ../private a"
        : "mv a/logs ../gone && ln -s ../../private/logs a/logs")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    var texts: [String] = []
    for sidecar in try folder.sidecars() {
      texts.append(try await folder.remote(sidecar.sessionId))
    }
    #expect(texts.count == 2 && texts.contains { $0.contains("root:") }, "\(texts)")
    #expect(!texts.joined().contains("SECRET"), "\(texts)")
  }

  @Test func `links that a user made to others' files are refused, even if links are followed`()
    async throws
  {
    var folder = try AttachedFolder("in/**")
    folder.sources[0].followsLinks = true
    try await folder.run(
      """
      mkdir -p in ../private && cd ../private && echo SECRET >shadow.log && echo mine >alice.log
      chown 65534 alice.log; chmod 755 . && cd ../logs/in
      ln -s ../../private/shadow.log file.log; ln -s file.log chain.log
      ln -s ../../private/alice.log alice.log; ln -s ../../private folder
      chown -h 65534 file.log alice.log folder
      """)
    try await folder.tick()
    var texts: [String] = []
    for sidecar in try folder.sidecars() {
      texts.append(try await folder.remote(sidecar.sessionId))
    }
    #expect(texts == ["mine\n"])
    let problems = try await folder.problems()
    #expect(
      Set(problems.keys)
        == Set(["in/file.log", "in/chain.log", "in/folder/shadow.log"].map(folder.file)))
    #expect(problems.values.allSatisfy { $0.contains("Permission denied") }, "\(problems)")
    try await folder.run("chown 65534 ../private/shadow.log")
    try await folder.tick()
    #expect(try await folder.problems().isEmpty)
    #expect(try folder.sidecars().count == 2)
  }
}
