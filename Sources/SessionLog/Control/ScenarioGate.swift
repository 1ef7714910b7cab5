package import LogRecords
import Synchronization

/// Whether one scenario of one session is written at this moment: one load, and nothing to wait for.
///
/// The session's writer sets it about once a second.
package final class ScenarioGate: Sendable {
  /// The scenario.
  package let name: ScenarioName
  /// The same as it stands in records.
  package let word: RecordWord
  private let isOpenNow: Atomic<Bool>
  private let leftOutNow = Atomic<Int>(0)

  init(_ name: ScenarioName, isOpen: Bool) {
    self.name = name
    word = RecordWord(scenario: name.description)
    isOpenNow = Atomic(isOpen)
  }

  /// Whether a record may pass; one that may not is counted.
  package func admits() -> Bool {
    if isOpenNow.load(ordering: .relaxed) { return true }
    leftOutNow.wrappingAdd(1, ordering: .relaxed)
    return false
  }

  /// Whether it is on.
  package var isOpen: Bool { isOpenNow.load(ordering: .relaxed) }

  /// How many records did not pass.
  var leftOut: Int { leftOutNow.load(ordering: .relaxed) }

  /// Opens or closes it.
  func set(_ isOpen: Bool) { isOpenNow.store(isOpen, ordering: .relaxed) }
}
