import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Which users' sessions may be open on a machine of several users.
@Suite(.tags(.small)) struct OpenSessionsTests {
  @Test func `refused homes may have sessions of their users open`() throws {
    let session = try #require(SessionID("20260122t143005z-aaaaaaaa"))
    let open = OpenSessions.unknown(at: ["/var/lib/tidemark/bin"])
    #expect(open.mayHave(session, of: "bin") && open.mayHave(session, of: nil))
    #expect(!open.mayHave(session, of: "daemon"))
    #expect(!OpenSessions.unknown(at: []).mayHave(session, of: nil))
  }
}
