package import LogRecords
import Synchronization

/// Whether one scenario of one session is currently written: a single atomic load, without waiting.
///
/// The session's writer updates it about once a second.
package final class ScenarioGate: Sendable {
  /// The scenario.
  package let name: ScenarioName
  /// The name as it appears in records.
  package let word: RecordWord
  private let isOpenNow: Atomic<Bool>
  private let leftOutNow = Atomic<Int>(0)

  init(_ name: ScenarioName, isOpen: Bool) {
    self.name = name
    word = RecordWord(scenario: name.description)
    isOpenNow = Atomic(isOpen)
  }

  /// Whether a record is to be written; counts those that are not.
  package func admits() -> Bool {
    if isOpenNow.load(ordering: .relaxed) { return true }
    leftOutNow.wrappingAdd(1, ordering: .relaxed)
    return false
  }

  /// Whether it is on.
  package var isOpen: Bool { isOpenNow.load(ordering: .relaxed) }

  /// Number of records not written.
  var leftOut: Int { leftOutNow.load(ordering: .relaxed) }

  /// Opens or closes it.
  func set(_ isOpen: Bool) { isOpenNow.store(isOpen, ordering: .relaxed) }
}
