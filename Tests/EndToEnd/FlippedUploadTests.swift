import Foundation
import Synchronization
import TestServers
import TestSupport
import Testing

/// A network that damages one upload in three without an error.
@Suite(.tags(.large)) struct FlippedUploadTests {
  /// Damages every third upload once it is armed.
  private final class EveryThird: Sendable {
    private let state = Mutex((isArmed: false, puts: 0))

    func arm() { state.withLock { $0.isArmed = true } }

    func fault(_ request: WireRequest) -> Fault? {
      guard Fault.flippedUpload.concerns(request) else { return nil }
      return state.withLock { state in
        guard state.isArmed else { return nil }
        state.puts += 1
        return state.puts % 3 == 0 ? .flippedUpload : nil
      }
    }
  }

  @Test(arguments: [Endpoint.Kind.webdav, .s3])
  func `an upload damaged in transit is reported and sent again`(kind: Endpoint.Kind) async throws {
    let damage = EveryThird()
    let endpoint = try Endpoint(kind) { _, request in damage.fault(request) }
    let program = try Program(endpoint)
    let recorded = try await program.shell(
      """
      set -eu
      $T init '\(endpoint.url)' >&2
      for n in $(seq 12); do $T run --no-upload -- seq $((n * 5000)) >/dev/null; done
      """)
    #expect(recorded.status == 0, "\(recorded.errors)")
    let sessions = try await program.list().compactMap { $0["sessionId"] as? String }
    #expect(sessions.count == 12)
    damage.arm()
    var last: Int32 = 1
    for pass in 1...10 where last != 0 {
      let uploaded = try await program.run("upload", "--now")
      last = uploaded.status
      // Partial; or integrity, in a later pass in which nothing else was left to do.
      let honest: Set<Int32> = pass == 1 ? [0, 1] : [0, 1, 65]
      #expect(honest.contains(uploaded.status), "\(uploaded.status): \(uploaded.errors)")
      // The network damages uploads, never downloads.
      var wrong: [String] = []
      for session in sessions {
        let remote = try await program.run("show", "--raw", "--remote", session)
        if try remote.status != 0 || remote.output != program.log(session) { wrong.append(session) }
      }
      let isHonest = wrong.isEmpty || uploaded.status != 0
      #expect(isHonest, "pass \(pass) said \(uploaded.status) of \(wrong)")
    }
    // In the end everything is there, although the network is as bad as before.
    #expect(last == 0)
    #expect(try await program.run("verify").status == 0)
    #expect(endpoint.proxy?.exercised[.flippedUpload, default: 0] ?? 0 >= 4)
  }
}
