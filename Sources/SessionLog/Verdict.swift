import LogRecords
public import Platform

/// How a session ended, as determined by a process other than its recorder.
public struct Verdict: Sendable, Equatable {
  /// Terminated or crashed.
  public let status: SessionStatus
  /// The cause; nil if unknown.
  public let cause: ExitCause?
  /// The end time, as precisely as known.
  public let endedAt: Timestamp

  /// Time without growth after which a session counts as ended if its recorder cannot be observed
  /// from here.
  private static let silence = Duration.days(1)

  /// Reaches a verdict.
  ///
  /// - Parameters:
  ///   - sidecar: the session's sidecar.
  ///   - files: the session's files.
  ///   - lockGranted: whether no other process holds the session's lock.
  ///   - machine: this machine.
  ///   - now: the time.
  ///   - logModified: when the log last grew.
  /// - Returns: nil if the session is open, or its end cannot be known.
  /// - Throws: ``SystemError`` when the log cannot be read.
  public static func reach(
    sidecar: Sidecar, files: SessionFiles, lockGranted: Bool, machine: Machine,
    now: Timestamp, logModified: Timestamp
  ) throws -> Verdict? {
    guard lockGranted else { return nil }
    if sidecar.status != .active {
      return Verdict(
        status: sidecar.status, cause: sidecar.cause, endedAt: sidecar.endedAt ?? logModified)
    }
    // Foreign files have no local writer: the sidecar says when they ended.
    guard sidecar.source == nil else { return nil }
    if sidecar.format == .lines, let (time, cause) = try lastEndRecord(files) {
      return Verdict(status: cause.status, cause: cause, endedAt: time)
    }
    let isSilent = now - logModified >= silence
    guard let recorder = sidecar.recorder else {
      // The sidecar's information is lost; the lock shows that no local process writes.
      return Verdict(status: .crashed, cause: .recorderLost, endedAt: logModified)
    }
    guard recorder.isOf(machine) else {
      return isSilent ? Verdict(status: .crashed, cause: nil, endedAt: logModified) : nil
    }
    guard recorder.bootId == machine.bootId else {
      return Verdict(status: .crashed, cause: .reboot, endedAt: logModified)
    }
    guard recorder.pidNamespace == machine.pidNamespace else {
      return isSilent ? Verdict(status: .crashed, cause: nil, endedAt: logModified) : nil
    }
    guard machine.processStart(recorder.pid) != recorder.processStart else { return nil }
    return Verdict(status: .crashed, cause: recorder.lossCause, endedAt: logModified)
  }

  /// The end record, if it is the last line of a log that is there: text printed by a program never has its category.
  private static func lastEndRecord(_ files: SessionFiles) throws -> (Timestamp, ExitCause)? {
    let tail: [UInt8]
    do {
      tail = try RecordedLog(files).tail(1024)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
    guard tail.last == 0x0a else { return nil }
    let line = Array(tail.dropLast().split(separator: 0x0a).last ?? [])
    return line.withUnsafeBytes { bytes in
      guard let prefix = RecordPrefix.parse(bytes), let time = prefix.time,
        bytes[prefix.category].elementsEqual(Category.session.utf8)
      else { return nil }
      let message = String(decoding: bytes[prefix.capturedLength...], as: UTF8.self)
      guard message.hasPrefix(EndRecord.start) else { return nil }
      return ExitCause(String(message.dropFirst(EndRecord.start.count))).map { (time, $0) }
    }
  }
}

extension Sidecar.Recorder {
  /// Whether it ran on a machine; two machines without an id may differ, unless they share a boot.
  fileprivate func isOf(_ machine: Machine) -> Bool {
    guard let own = machineId, let other = machine.machineId else {
      return bootId == machine.bootId
    }
    return own == other
  }

  /// The cause of its loss: out of memory if its control group shows a new kill, else a lost
  /// recorder.
  fileprivate var lossCause: ExitCause {
    guard let memoryEvents, let memoryKills,
      let kills = MemoryEvents(path: memoryEvents).kills, kills > memoryKills
    else { return .recorderLost }
    return .outOfMemory
  }
}

/// The recorder's last record.
enum EndRecord {
  static let start = "SESSION END "

  /// A crash has level FAULT and a failed exit ERROR, so that searching for either finds the end.
  static func level(of cause: ExitCause) -> Level {
    if cause.status == .crashed { return .fault }
    return cause.isFailure ? .error : .info
  }
}
