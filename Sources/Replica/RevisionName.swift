import Crypto
package import Platform
package import SessionLog

/// `<session>.s0003.terminated.000004194304.<hash16>.<stored>.json`: an immutable revision of a
/// session's sidecar.
///
/// A generation other than the first is named before the length:
/// `<session>.s0003.active.g2.000004194304.<hash16>.<stored>.json`.
package struct RevisionName: Sendable, Hashable, CustomStringConvertible {
  /// The highest revision number.
  package static let highestNumber = 999_999
  /// The largest sidecar that a writer makes; a name that states more is foreign.
  package static let largestObject: ByteCount = 1 << 20

  /// The session.
  package let session: SessionID
  /// Its number, from 1.
  package let number: Int
  /// The session's status; anything but active marks the seal.
  package let status: SessionStatus
  /// The generation of the stream that counts from this revision on.
  package let generation: Int
  /// Length of the stream at that time.
  package let length: StreamOffset
  /// First 16 hex digits of SHA-256 over the JSON.
  package let hash: String
  /// The object's size.
  package let stored: ByteCount

  /// The name of a revision with this content.
  package init(
    session: SessionID, number: Int, status: SessionStatus, generation: Int = 1,
    length: StreamOffset, json: [UInt8]
  ) {
    self.session = session
    self.number = number
    self.status = status
    self.generation = generation
    self.length = length
    self.hash = NameField.hash16(SHA256.hash(data: json))
    self.stored = ByteCount(json.count)
  }

  /// Whether a sidecar matches this name.
  package func matches(_ json: [UInt8]) -> Bool {
    ByteCount(json.count) == stored && NameField.hash16(SHA256.hash(data: json)) == hash
  }

  /// The file name.
  package var description: String { fileName }

  /// Reads a file name; nil for anything that ``fileName`` does not write.
  package init?(_ fileName: String) { self.init(fileName, of: nil) }

  /// The same, where the session that the name begins with may be known.
  init?(_ fileName: String, of known: SessionID?) {
    var parts = NameField.parts(of: fileName)
    var generation = 1
    if parts.count == 8, let named = NameField.generation(parts[3]), named > 1 {
      generation = named
      parts.remove(at: 3)
    }
    guard parts.count == 7, parts[6] == "json", let session = known ?? SessionID(String(parts[0])),
      parts[1].first == "s", let number = NameField.number(parts[1].dropFirst()),
      number <= Self.highestNumber, let status = SessionStatus(rawValue: parts[2].uppercased()),
      let length = NameField.offset(parts[3]), let hash = NameField.hash(parts[4]),
      let stored = NameField.size(parts[5]), stored <= Self.largestObject
    else { return nil }
    self.session = session
    self.number = Int(number)
    self.status = status
    self.generation = generation
    self.length = length
    self.hash = hash
    self.stored = stored
    guard self.fileName == fileName else { return nil }
  }

  /// The name inside its ``SessionFolder``.
  package var fileName: String {
    NameField.join(session) { name in
      name += ".s".utf8
      NameField.append(Int64(number), digits: 4, to: &name)
      name += ".".utf8
      name += status.rawValue.lowercased().utf8
      if generation != 1 {
        name += ".g".utf8
        NameField.append(Int64(generation), to: &name)
      }
      name += ".".utf8
      NameField.append(length, to: &name)
      NameField.append(hash: hash, stored: stored, to: &name)
      name += ".json".utf8
    }
  }

  /// The least number of the revision that a sidecar was: numbers have gaps where a store refused to
  /// overwrite an interrupted upload, and only seals name the one before.
  package static func leastNumber(of sidecar: Sidecar) -> Int {
    (sidecar.previous.flatMap { RevisionName($0) }?.number ?? 0) + 1
  }
}
