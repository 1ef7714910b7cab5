import Platform
import TestSupport
import Testing

@Suite(.tags(.medium)) struct BoundedCommandTests {
  private func run(_ script: String) -> (ending: BoundedCommand.Ending, output: [UInt8]) {
    let output = Guarded<[UInt8]>([])
    let ending = BoundedCommand(
      ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], input: Array("in".utf8),
      limit: .seconds(600), on: .current
    ) { bytes in
      output.withLock { $0 = bytes }
    }.runBlocking()
    return (ending, output.withLock { $0 })
  }

  @Test func `the output is relayed once the command has ended, up to a limit`() {
    let result = run("cat; echo; echo one; echo two >&2; head -c 100000 /dev/zero; exit 3")
    #expect(result.ending == .exited(3))
    #expect(result.output.starts(with: Array("in\none\ntwo\n".utf8)))
    #expect(result.output.count == 64 << 10)
  }

  @Test func `a relayed command has none of our descriptors for its output`() throws {
    let result = run("readlink /proc/$$/fd/1; readlink /proc/$$/fd/2")
    let text = String(decoding: result.output, as: UTF8.self)
    let links = text.split(separator: "\n")
    #expect(links.count == 2 && links.allSatisfy { $0.hasPrefix("/tmp/tidemark-") }, "\(text)")
  }
}
