import TestSupport
import Testing

@testable import TestServers

/// Tests wait for the programs they use, and fail if one is missing.
@Suite(.tags(.medium)) struct ServerProcessTests {
  /// However long the timeout for one that runs.
  @Test func `a server that exits before listening fails at once`() throws {
    let folder = try TemporaryDirectory()
    let port = try Port.free()
    let failure = #expect(throws: ServerFailure.self) {
      try ServerProcess(
        "/bin/sh", ["-c", "echo no luck; exit 1"], port: port, folder: folder.path,
        install: "something")
    }
    let text = "\(failure, default: "none")"
    #expect(text.contains("ended before it listened on port \(port): no luck"), "\(text)")
    #expect(text.contains("Install something"), "\(text)")
  }

  @Test func `free ports are never handed out twice`() throws {
    let ports = try (0..<100).map { _ in try Port.free() }
    #expect(Set(ports).count == ports.count)
  }
}
