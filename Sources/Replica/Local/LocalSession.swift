import Foundation
package import Platform
package import SessionLog

/// A session as it lies in the home.
package struct LocalSession {
  package let home: Home
  package let session: SessionID
  package let files: SessionFiles

  package init(_ home: Home, _ session: SessionID) {
    self.home = home
    self.session = session
    files = home.files(for: session)
  }

  /// What is here of the stream; nil when nothing is.
  ///
  /// - Parameter source: the file that an attached session reads.
  package func openLog(_ source: Sidecar.Source?) throws -> LocalStream? {
    do {
      guard let source else { return try LocalStream(files) }
      return try LocalStream(source, rest: files.log)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  package var hasSidecar: Bool { File.exists(files.sidecar) }

  /// The sidecar, pieced together from the id where it is missing or damaged.
  ///
  /// - Returns: the sidecar, and whether what is on disk could not be read.
  package func sidecar(device: Device) throws -> (sidecar: Sidecar, isDamaged: Bool) {
    let found = try sidecarAsFound(device: device)
    return (found.sidecar, found.isDamaged)
  }

  /// The same, and the device that it names where that is another one.
  package func sidecarAsFound(
    device: Device
  ) throws -> (sidecar: Sidecar, isDamaged: Bool, formerDevice: String?) {
    var sidecar: Sidecar
    var isDamaged = false
    do {
      sidecar = try Sidecar.load(files.sidecar)
    } catch is SidecarError {
      (sidecar, isDamaged) = (Sidecar.reconstructed(id: session, device: device), true)
    }
    // In machine-wide mode a user may write anything here, but not in another's name.
    if let owner = home.owner { sidecar.userId = owner.name }
    sidecar.uid = home.owner?.id
    guard sidecar.seal == nil, sidecar.deviceId != device.deviceId else {
      return (sidecar, isDamaged, nil)
    }
    // What is not sealed is sent as this device's, whatever id the home had before: it was copied or
    // moved, or lost its device record. Of sealed ones the id says where they are.
    let former = sidecar.deviceId
    sidecar.deviceId = device.deviceId
    return (sidecar, isDamaged, former)
  }

  /// How the session ended; nil while somebody writes it or nothing can be known.
  package func verdict(
    _ sidecar: Sidecar, machine: Machine, now: Timestamp, modified: Timestamp
  ) throws -> Verdict? {
    let lock = try FileLock.tryExclusive(files.lock)
    defer { withExtendedLifetime(lock) {} }
    return try Verdict.reach(
      sidecar: sidecar, files: files, lockGranted: lock != nil, machine: machine, now: now,
      logModified: modified)
  }

  /// Bytes that the log and its parts take on the disk.
  package func logBytes() throws -> ByteCount {
    let parts = try files.parts().flatMap { [$0.plain, $0.compressed] }
    return try ([files.log] + parts).reduce(0) { try $0 + ByteCount(FileStatus($1)?.length ?? 0) }
  }
}
