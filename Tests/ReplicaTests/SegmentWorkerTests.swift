import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.medium)) struct SegmentWorkerTests {
  @Test func `a failed segment leaves nothing in the next one`() async throws {
    let home = try TestHome()
    let session = try home.session(Array(repeating: UInt8(ascii: "a"), count: 5 << 20))
    let log = try LocalStream(home.home.files(for: session))
    let length = try log.status().length
    let lane = try SegmentWorker()
    let whole = try await lane.encode(
      log, session: session, range: 0..<length, storedLimit: .max, format: .lines)
    // As when the log is truncated during the read.
    await #expect(throws: ReplicaError.self) {
      try await lane.encode(
        log, session: session, range: 0..<length + 1, storedLimit: .max, format: .lines)
    }
    let again = try await lane.encode(
      log, session: session, range: 0..<length, storedLimit: .max, format: .lines)
    #expect(again.name == whole.name)
    #expect(again.body == whole.body)
  }
}
