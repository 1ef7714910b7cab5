import Foundation
import Simulation
import TestSupport
import Testing

@Suite(.tags(.medium)) struct NamedHistoryTests {
  @Test(arguments: NamedHistory.all)
  func `the product withstands a history that was found`(_ named: NamedHistory) async throws {
    let simulation = Simulation(
      in: NSTemporaryDirectory() + "tidemark-history-" + UUID().uuidString)
    let outcome = try await simulation.run(named.history)
    #expect(outcome.violations.isEmpty, "\(outcome.violations)")
  }
}
