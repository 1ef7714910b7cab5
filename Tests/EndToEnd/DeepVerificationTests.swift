import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.tags(.medium)) struct DeepVerificationTests {
  @Test func `deep verification reads every object that seals name, and status reports it`()
    async throws
  {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    for text in ["one", "two", "three"] { try await program.record("echo", text) }
    let some = try await program.run("verify", "--deep", "--sample", "2")
    #expect(some.status == 0 && some.text.split(separator: "\n").count == 2, "\(some.errors)")
    #expect(try await program.run("status").text.contains("2 of 3 sealed sessions, all whole"))
    #expect(try await program.run("verify", "--deep", "--all-devices").status == 0)
    #expect(
      try await program.run("status", "--json").text.contains(#""sessions":3,"whole":3"#))

    let segment = try #require(try endpoint.segments().first)
    var object = try Data(contentsOf: URL(filePath: segment))
    object[10] ^= 1
    try object.write(to: URL(filePath: segment))
    let damaged = try await program.run("verify", "--deep")
    #expect(damaged.status == 65 && damaged.text.contains("FAILED"), "\(damaged.text)")
    #expect(try await program.run("status").text.contains("2 of 3 sealed sessions, all whole"))
    #expect(try await program.run("verify", "--sample", "2").status == 64)
  }
}
