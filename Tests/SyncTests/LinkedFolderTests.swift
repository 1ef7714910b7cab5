import Foundation
import SessionLog
import TestSupport
import Testing

/// A folder of attached logs is exchanged for a link that leads out of the source.
@Suite(.tags(.medium)) struct LinkedFolderTests {
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
}
