public import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension MachineEvidence {
  /// This process as a session's recorder.
  public func recorder() -> Sidecar.Recorder {
    let memory = MemoryEvents.ofThisProcess()
    return Sidecar.Recorder(
      pid: getpid(), processStart: processStart(getpid()) ?? 0, bootId: bootId,
      pidNamespace: pidNamespace, machineId: machineId, memoryEvents: memory?.path,
      memoryKills: memory?.kills)
  }
}
