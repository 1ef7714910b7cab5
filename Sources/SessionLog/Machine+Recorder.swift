package import Platform

extension Machine {
  /// This process as a session's recorder.
  package func recorder() -> Sidecar.Recorder {
    Sidecar.Recorder(
      pid: processId, processStart: processStart(processId) ?? 0, bootId: bootId,
      pidNamespace: pidNamespace, machineId: machineId, memoryEvents: memoryEvents?.path,
      memoryKills: memoryEvents?.kills)
  }
}
