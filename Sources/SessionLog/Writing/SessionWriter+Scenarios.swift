import LogRecords
import Platform

/// Which records of a session are written only while their scenario is on.
extension SessionWriter {
  /// The gate of a scenario, which is declared by asking for it.
  package func gate(_ name: ScenarioName) -> ScenarioGate {
    if let gate = state.withLock({ $0.gates[name] }) { return gate }
    declare([name])
    return state.withLock { state in
      // More are declared than a session can have: this one stays off.
      state.gates[name] ?? ScenarioGate(name, isOpen: false)
    }
  }

  /// Declares scenarios; each stays what it was set to, and is off where nobody has.
  package func declare(_ names: [ScenarioName]) {
    guard !names.isEmpty, options.format == .lines else { return }
    let time = machine.now()
    // What cannot be written down here is off, or is what another session has declared.
    _ = try? DeclaredScenarios(home).declare(names, in: session, at: time)
    for name in names {
      let known = scenarios.state(of: name)
      let gate = ScenarioGate(name, isOpen: known?.isOn(at: time) ?? false)
      let isNew = state.withLock { state in
        guard state.gates[name] == nil, state.gates.count < DeclaredScenarios.mostOfSession
        else { return false }
        state.gates[name] = gate
        return true
      }
      if isNew { note(.scenario("\(name) \(known?.text(at: time) ?? "off")"), at: time) }
    }
  }

  /// Opens and closes the gates as the home's switches say by now.
  func turnGates(at time: Timestamp) {
    let gates = state.withLock { Array($0.gates.values) }
    for gate in gates {
      let known = scenarios.state(of: gate.name)
      let isOn = known?.isOn(at: time) ?? false
      guard isOn != gate.isOpen else { continue }
      gate.set(isOn)
      note(.scenario("\(gate.name) \(known?.text(at: time) ?? "off")"), at: time)
    }
  }

  /// Says what was left out.
  func noteLeftOut(at time: Timestamp) {
    let gates = state.withLock { $0.gates.values.sorted { $0.name < $1.name } }
    for gate in gates where gate.leftOut > 0 {
      let records = gate.leftOut == 1 ? "1 record" : "\(gate.leftOut) records"
      note(.scenario("\(gate.name) off: \(records) not written"), at: time)
    }
  }
}
