import Sync
import TestServers
import TestSupport
import Testing

@Suite(.tags(.large)) struct FaultCampaignTests {
  /// A twentieth of ten thousand requests, or all of them.
  @Test(arguments: FaultCampaign.Kind.allCases)
  func `after thousands of faulty requests, local and remote are equal`(
    _ kind: FaultCampaign.Kind
  ) async throws {
    let campaign = try FaultCampaign(kind)
    let requests = SeededGenerator.cases(10_000).count
    // Some faults need a rare request: wait for them within reason.
    func hasMetAll() -> Bool {
      let exercised = campaign.proxy.exercised
      return Fault.endingByThemselves.allSatisfy { exercised[$0, default: 0] > 0 }
    }
    while campaign.proxy.requests < requests
      || !hasMetAll() && campaign.proxy.requests < 4 * requests
    {
      for home in campaign.homes { try await home.step() }
    }
    campaign.proxy.stopFaults()
    var kept = 0
    for home in campaign.homes {
      try await home.endAll()
      let report = try await home.tick(.all)
      #expect(report.stoppedBy == nil && report.failures.isEmpty, "\(report)")
      // Superseded objects are deleted in a pass after the seal's.
      try await home.tick(.all)
      let problems = try await home.problems()
      #expect(problems == [], "seed \(SeededGenerator.runSeed)")
      kept += await home.count.kept
    }
    #expect(kept > 0)
    let exercised = campaign.proxy.exercised
    for fault in Fault.endingByThemselves { #expect(exercised[fault, default: 0] > 0, "\(fault)") }
  }
}
