import TestSupport
import Testing

@testable import SessionRecorder

/// The path of a crashed program's core dump.
@Suite(.tags(.small)) struct CoreFileTests {
  @Test(arguments: [
    ("core", "/work/core"), ("/var/crash/core.%p", "/var/crash/core.77"),
    ("|/usr/lib/systemd/systemd-coredump %P %u", "coredumpctl info 77"),
    ("|/usr/share/apport/apport -p%p", "given to /usr/share/apport/apport"),
  ])
  func `the location of a core file follows from the core pattern`(pattern: String, place: String) {
    #expect(CoreFile(pattern: pattern).place(of: 77, in: "/work") == place)
  }
}
