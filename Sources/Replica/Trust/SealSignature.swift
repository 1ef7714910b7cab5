import Foundation
import Platform
import SessionLog

/// Signs seals and verifies their signatures.
///
/// The signature covers the JSON byte for byte except the member `signature`, which has lines of
/// its own: so `sed` and `openssl` suffice to verify it, and unknown members are signed as well.
/// The first line states the kind of message, the second its path in the store, the third the
/// signing key and since when the device signs.
enum SealSignature {
  /// The first line of the signed bytes.
  private static let title = "tidemark seal 1"
  /// As long as the signature that takes its place.
  private static let placeholder = String(repeating: "A", count: 88)

  /// The JSON of a seal with its signature.
  ///
  /// - Parameters:
  ///   - sidecar: the seal, without one.
  ///   - revision: its name as it would be without one; hash and size do not count.
  ///   - folder: the session's folder.
  static func sign(
    _ sidecar: Sidecar, as revision: RevisionName, in folder: SessionFolder, by key: DeviceKey
  ) throws -> [UInt8] {
    var sidecar = sidecar
    let signature = Sidecar.Signature(
      by: key.publicKey.id, key: key.publicKey.description, sig: placeholder, since: key.since)
    sidecar.signature = signature
    var json = try sidecar.json()
    guard let (bare, place) = try cut(signature, from: json),
      let gap = range(of: Array(placeholder.utf8), in: json[place])
    else {
      throw ReplicaError(.damagedObject, "\(revision.session): its seal cannot be signed")
    }
    let message = message(bare, signature, revision, folder)
    let sig = Data(try key.signature(of: message)).base64EncodedString()
    json.replaceSubrange(gap, with: sig.utf8)
    return json
  }

  /// The key that signed a seal; nil for one without a signature.
  ///
  /// - Throws: ``ReplicaError`` for a signature that does not match the seal.
  static func signer(
    of json: [UInt8], _ sidecar: Sidecar, _ revision: RevisionName, in folder: SessionFolder
  ) throws -> (key: PublicKey, since: Timestamp)? {
    guard let signature = sidecar.signature else { return nil }
    guard let key = PublicKey(signature.key), signature.by == key.id,
      let sig = Data(base64Encoded: signature.sig), let (bare, _) = try cut(signature, from: json),
      key.signed(message(bare, signature, revision, folder), Array(sig))
    else {
      throw ReplicaError(
        .damagedObject,
        "\(folder.key)\(revision.fileName) has a wrong signature: it is not what device "
          + "\(folder.device) sealed. Where the device still has the log, 'tidemark verify --repair' "
          + "there sends it again")
    }
    return (key, signature.since)
  }

  /// The revision that a copy of a seal was, which its file no longer names: the one for which its
  /// signature holds.
  ///
  /// - Parameter length: the stream's length in the revision's name.
  /// - Returns: nil without a signature that holds.
  static func revision(
    of json: [UInt8], _ sidecar: Sidecar, length: StreamOffset, in folder: SessionFolder
  ) -> RevisionName? {
    guard sidecar.signature != nil else { return nil }
    let least = RevisionName.leastNumber(of: sidecar)
    return (least..<least + 1000).lazy.map { number in
      RevisionName(
        session: sidecar.sessionId, number: number, status: sidecar.status,
        generation: sidecar.generation ?? 1, length: length, json: json)
    }.first { (try? signer(of: json, sidecar, $0, in: folder)) != nil }
  }

  private static func message(
    _ bare: [UInt8], _ signature: Sidecar.Signature, _ revision: RevisionName,
    _ folder: SessionFolder
  ) -> [UInt8] {
    // Without hash, size and ending.
    let place =
      folder.key + revision.fileName.fields(between: ".").dropLast(3).joined(separator: ".")
    return Array("\(title)\n\(place)\n\(signature.key) \(signature.since)\n".utf8) + bare
  }

  /// A seal's JSON without the lines of a signature, and where they were; nil if it does not have
  /// them as written.
  private static func cut(
    _ signature: Sidecar.Signature, from json: [UInt8]
  ) throws -> (bare: [UInt8], place: Range<Int>)? {
    let lines = try lines(of: signature)
    guard let place = range(of: Array(lines.utf8), in: json[...]), place.lowerBound > 0,
      json[place.lowerBound - 1] == 0x0a
    else { return nil }
    return (Array(json[..<place.lowerBound] + json[place.upperBound...]), place)
  }

  /// The first occurrence of some bytes.
  ///
  /// In place of the generic `firstRange(of:)`, which takes more instructions: each seal that is
  /// written or read is searched.
  private static func range(of part: [UInt8], in json: ArraySlice<UInt8>) -> Range<Int>? {
    guard let first = part.first, part.count <= json.count else { return nil }
    for start in json.startIndex...json.endIndex - part.count where json[start] == first {
      let place = start..<start + part.count
      if json[place].elementsEqual(part) { return place }
    }
    return nil
  }

  /// The lines of a signature in a seal's JSON.
  static func lines(of signature: Sidecar.Signature) throws -> String {
    let members = [
      ("by", signature.by), ("key", signature.key), ("sig", signature.sig),
      ("since", signature.since.description),
    ]
    // An encoder only says how to escape what no signature of ours has.
    guard members.allSatisfy({ isPlain($0.1) }) else { return try encodedLines(of: signature) }
    let lines = members.map { "    \"\($0.0)\" : \"\($0.1)\"" }.joined(separator: ",\n")
    return "  \"signature\" : {\n\(lines)\n  },\n"
  }

  /// Whether JSON writes a text as it is.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy {
      (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
  }

  /// The lines as an encoder writes them.
  static func encodedLines(of signature: Sidecar.Signature) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let object = String(decoding: try encoder.encode(["signature": signature]), as: UTF8.self)
    // Without the lines of the braces.
    return object.fields(between: "\n").dropFirst().dropLast().joined(separator: "\n") + ",\n"
  }
}
