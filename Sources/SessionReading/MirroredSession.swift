import Crypto
import Foundation
package import Platform
package import Replica
package import SessionLog

/// A session in a folder written by `tidemark pull`: `<device>/<day>/<session>.log` and `.json`.
package struct MirroredSession {
  /// Its sidecar in the mirror.
  package let sidecar: Sidecar
  /// Length of its log in bytes.
  package let length: ByteCount
  private let log: String
  /// The sidecar as it is in the mirror.
  private let json: [UInt8]
  /// The mirror's folder of its device, which need not be this home's.
  private let folder: SessionFolder

  /// Finds a session.
  ///
  /// Of the copies of several devices one that nothing contradicts is meant rather than others.
  ///
  /// - Parameters:
  ///   - wanted: the session's id.
  ///   - folder: the mirror.
  ///   - keys: the keys that sidecars must be signed with.
  ///   - report: called with a line for a person about copies that count for less.
  /// - Throws: ``LookupError`` if there is none, or several; ``ReadingError`` if its log is
  ///   missing, or does not have the seal's length; ``Platform/SystemError``;
  ///   ``SessionLog/SidecarError``; the errors of reading known keys.
  package static func find(
    _ wanted: ShortenedID, in folder: String, knowing keys: KnownKeys, report: (String) -> Void
  ) throws -> MirroredSession {
    let found = try copies(wanted, in: folder)
    try wanted.expectOneSession(found.map(\.session))
    var accepted: [DeviceSession: MirroredSession] = [:]
    for one in found where found.count > 1 {
      guard let copy = try? MirroredSession(one, in: folder) else { continue }
      if case .contradicted = try copy.doubt(knowing: keys) { continue }
      accepted[one] = copy
    }
    let counting = accepted.isEmpty ? found : found.filter { accepted[$0] != nil }
    let chosen = try wanted.chooseOne(of: counting)
    for other in found where other != chosen { report(ShortenedID.text(passingOver: other)) }
    return try accepted[chosen] ?? MirroredSession(chosen, in: folder)
  }

  /// The sessions that an id may mean.
  private static func copies(
    _ wanted: ShortenedID, in folder: String
  ) throws -> [DeviceSession] {
    var found: [DeviceSession] = []
    for device in try Directory.names(in: folder).sorted() {
      for day in try Directory.names(in: "\(folder)/\(device)").sorted()
      where Timestamp(iso: day + "T00:00:00Z") != nil {
        let names = try Directory.names(in: "\(folder)/\(device)/\(day)")
        found += names.compactMap { name in
          guard name.hasSuffix(".json"), let session = SessionID(String(name.dropLast(5))),
            session.day == day
          else { return nil }
          let one = DeviceSession(device: device, session: session)
          return wanted.means(one) ? one : nil
        }
      }
    }
    return found
  }

  /// Opens a session of a mirror.
  private init(_ one: DeviceSession, in mirror: String) throws {
    folder = SessionFolder(device: one.device, session: one.session)
    let path = "\(mirror)/\(folder.device)/\(folder.day)/\(one.session)"
    let (sidecar, json) = try Sidecar.read(path + ".json")
    (self.sidecar, self.json) = (sidecar, json)
    guard let status = try FileStatus(path + ".log") else {
      throw ReadingError(.unfit, "the mirror has no log of \(sidecar.sessionId)")
    }
    length = ByteCount(status.length)
    log = path + ".log"
    guard sidecar.status == .active || sidecar.withholdsLog || sidecar.fileSizeBytes == length
    else {
      throw ReadingError(
        .unfit,
        "the mirror has \(length) bytes of \(sidecar.sessionId), its sidecar says "
          + "\(sidecar.fileSizeBytes); run 'tidemark pull' again")
    }
  }

  /// Why the log may not be what its device recorded.
  package enum Doubt: Sendable, Equatable {
    /// Something contradicts it, or nothing states what the log has to be.
    case contradicted(String)
    /// The log is as its sidecar states, but nothing proves whose that is.
    case unproven(String)
  }

  /// Why the log may not be what its device recorded; nil if its sidecar states its digest, and is
  /// signed with the device's known key.
  ///
  /// - Throws: ``Platform/SystemError``, and the errors of reading known keys.
  package func doubt(knowing keys: KnownKeys) throws -> Doubt? {
    guard sidecar.status != .active else {
      return .contradicted(
        "\(sidecar.sessionId) was open when it was pulled: nothing states what its log has to be")
    }
    guard let digest = sidecar.digest else {
      return .contradicted(
        "the mirror's sidecar of \(sidecar.sessionId) states no digest of its log")
    }
    let proof: KnownKeys.CopyProof
    do {
      proof = try keys.checkCopy(json, sidecar, length: StreamOffset(length), in: folder)
    } catch let error as ReplicaError {
      return .contradicted(error.description)
    }
    guard try LocalStream(OpenFile(log), from: 0).digest() == digest else {
      return .contradicted("\(log) has other bytes than its sidecar states")
    }
    switch proof {
    case .proven: return nil
    case .unsigned:
      return .unproven(
        "\(sidecar.sessionId) is unverified: its sidecar is not signed, as those of version 0.1.0, so "
          + "anybody may have written it")
    case .unknownKey:
      return .unproven(
        "\(sidecar.sessionId) is unverified: no key of device \(folder.device) is known; name it under "
          + "'trust:' in the configuration")
    }
  }

  /// Passes the log to a function, in pieces.
  ///
  /// - Parameter isExpected: whether its bytes have to be those that the sidecar states: the mirror
  ///   may change after ``doubt(knowing:)``.
  /// - Throws: ``ReadingError`` at the end if they are others; ``Platform/SystemError``, and errors of
  ///   `write`.
  package func read(
    asStated isExpected: Bool, _ write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let file = try OpenFile(log)
    var position: Int64 = 0
    var digest = SHA256()
    while true {
      let bytes = try file.read(at: position, count: 1 << 20)
      if bytes.isEmpty { break }
      position += Int64(bytes.count)
      if isExpected { digest.update(data: bytes) }
      try bytes.withUnsafeBytes(write)
    }
    guard isExpected, Hex.text(digest.finalize()) != sidecar.digest else { return }
    throw ReadingError(
      .changed, "\(log) changed while it was read; nothing was restored, try again")
  }
}
