import LogRecords
import Platform

/// Controls which records are written according to their scenarios.
extension SessionWriter {
  /// The gate of a scenario, which this declares.
  package func gate(_ name: ScenarioName) -> ScenarioGate {
    if let gate = state.withLock({ $0.gates[name] }) { return gate }
    declare([name])
    return state.withLock { state in
      // Beyond the maximum of a session, a scenario stays off.
      state.gates[name] ?? ScenarioGate(name, isOpen: false)
    }
  }

  /// Declares scenarios; each keeps its state, and is off if it has none.
  package func declare(_ names: [ScenarioName]) {
    guard !names.isEmpty, options.format == .lines else { return }
    let time = machine.now()
    // If this fails, a scenario is off, or as another session has declared it.
    _ = try? DeclaredScenarios(home).declare(names, in: session, at: time, on: machine)
    for name in names {
      let known = scenarios.state(of: name)
      let gate = ScenarioGate(name, isOpen: known?.isOn(at: time) ?? false)
      let isNew = state.withLock { state in
        guard state.gates[name] == nil, state.gates.count < DeclaredScenarios.mostOfSession
        else { return false }
        state.gates[name] = gate
        return true
      }
      if isNew { record(.scenario("\(name) \(known?.text(at: time) ?? "off")"), at: time) }
    }
  }

  /// Opens and closes the gates according to the home's present states.
  func turnGates(at time: Timestamp) {
    let gates = state.withLock { Array($0.gates.values) }
    for gate in gates {
      let known = scenarios.state(of: gate.name)
      let isOn = known?.isOn(at: time) ?? false
      guard isOn != gate.isOpen else { continue }
      gate.set(isOn)
      record(.scenario("\(gate.name) \(known?.text(at: time) ?? "off")"), at: time)
    }
  }

  /// Records how many records were not written, by this process and by others.
  func recordLeftOut(at time: Timestamp) {
    let own = state.withLock { $0.gates.mapValues(\.leftOut) }
    let others = (try? DeclaredScenarios(home).leftOut(of: session)) ?? [:]
    let all = own.merging(others) { $0 + $1 }
    for (name, count) in all.sorted(by: { $0.key < $1.key }) where count > 0 {
      let records = count == 1 ? "1 record" : "\(count) records"
      record(.scenario("\(name) off: \(records) not written"), at: time)
    }
  }
}
