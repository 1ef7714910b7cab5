import LogRecords
import Platform
import SessionLog
import SessionReading
import Sync
import TestSupport
import Testing

/// Sessions that are followed until they end.
@Suite(.tags(.medium)) struct SessionFollowingTests {
  @Test func `a session in the store is asked for at the interval until it ends`() async throws {
    let site = try Site()
    let clock = site.local.clock
    let writer = try site.local.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try await site.upload()
    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(
      matching: writer.session.description, devices: [site.device.deviceId])
    let reader = try SessionReader(entry, side: .remote, in: catalog) { _ in }
    let choice = RecordChoice(RecordFilter(), lastLines: 10)
    let followed = try await FollowedSession(reader, choice, follows: true) { _ in }
    let pauses = Guarded<[Duration]>([])
    let following = SessionFollowing(
      [followed], askingEvery: .seconds(10), on: clock.machine
    ) { pause in
      clock.advance(seconds: 10)
      let count = pauses.withLock { known in
        known.append(pause)
        return known.count
      }
      if count == 1 {
        Array("two\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      } else {
        try writer.end(.exit(0))
      }
      try await site.upload()
    }
    var log: [UInt8] = []
    var ended: [SessionID] = []
    let isComplete = try await following.run { sessions in
      for session in sessions {
        while let line = try await session.next() { log += line.bytes }
      }
    } reportEnd: { session in
      ended.append(session.entry.session)
    }
    #expect(isComplete && ended == [writer.session])
    #expect(pauses.withLock(\.self) == [.seconds(10), .seconds(10)])
    #expect(try log == site.local.log(writer.session))
  }
}
