import Platform
import TestSupport
import Testing

@testable import tidemark

/// What is said about a pass of alerts that has run for too long.
@Suite(.tags(.small)) struct LongAlertsTests {
  @Test func `a line says for how long, and which process to look for`() {
    let since = Timestamp(milliseconds: 1_769_092_205_123)
    let text = AlertPassCommand.busyText(
      "/home/op/operator/alerts.json", since: since, at: since + .hours(3))
    #expect(
      text == """
        another 'tidemark alert' has run for 3 h, and nothing is reported meanwhile; 'fuser -v \
        /home/op/operator/alerts.json.lock' names it; end it if it hangs
        """)
  }
}
